// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Memory held by the leases of one peer, and its limits, so that a peer that releases nothing
 * leaves memory to others. A peer at its limit gets the answer BUSY, as when the budget is full.
 * Used with the server's lock.
 */
final class PeerShare {
  private static final int WHOLE = 100;

  private final int maxLeases;
  private final long maxWindowBytes;
  private final int maxSlots;
  private long windowBytes;
  private int leases;
  private int slots;

  /** Slots of leases that are cancelled and not ended yet, such as those of a disk that hangs. */
  private int abandonedSlots;

  private boolean refused;

  /**
   * @param budgetBytes of which windows leased by this peer hold at most {@link
   *     ServeSettings#peerPercent}
   */
  PeerShare(ServeSettings settings, long budgetBytes) {
    maxLeases = settings.peerLeases();
    maxWindowBytes = budgetBytes / WHOLE * settings.peerPercent();
    maxSlots = Math.max(1, settings.slots() * settings.peerPercent() / WHOLE);
  }

  /** Checks whether the peer may have another lease; remembers a refusal. */
  boolean admitLease() {
    return !refuse(leases >= maxLeases);
  }

  /**
   * Checks whether a lease may hold a window, which is always so for a window that the peer already
   * holds; remembers a refusal.
   *
   * @param window null for an unregistered window
   */
  boolean admitWindow(FileWindow window) {
    return !refuse(!canHold(window));
  }

  /** Whether a lease may hold a window; null for an unregistered one. */
  boolean canHold(FileWindow window) {
    return hasRoomForWindows() || (window != null && window.isHeldBy(this));
  }

  boolean hasRoomForWindows() {
    return windowBytes < maxWindowBytes;
  }

  /** Checks whether the peer may hold another slot; remembers a refusal. */
  boolean admitSlot() {
    return !refuse(slots >= maxSlots);
  }

  /** Whether answers to the peer hold a slot, so that waiting for its release can help. */
  boolean holdsSlots() {
    return slots > abandonedSlots;
  }

  private boolean refuse(boolean now) {
    refused |= now;
    return now;
  }

  /** Whether there was a refusal since the last call. */
  boolean pollRefused() {
    boolean was = refused;
    refused = false;
    return was;
  }

  void beginLease() {
    leases++;
  }

  void endLease() {
    leases--;
  }

  /** A lease of the peer holds the window. When it throws, nothing has changed. */
  void add(FileWindow window) {
    if (window.addHolder(this)) {
      windowBytes += window.pinnedBytes();
    }
  }

  /** The same lease holds it no more. Allocates nothing. */
  void remove(FileWindow window) {
    if (window.removeHolder(this)) {
      windowBytes -= window.pinnedBytes();
    }
  }

  void addSlot() {
    slots++;
  }

  void removeSlot() {
    slots--;
  }

  /** So many of the slots belong to a lease that is cancelled, which no reader will release. */
  void addAbandoned(int count) {
    abandonedSlots += count;
  }

  /** One of them is free. */
  void removeAbandoned() {
    abandonedSlots--;
  }
}
