// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.HashMap;
import java.util.Map;
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
  private final Map<FileWindow, Held> windows = new HashMap<>();
  private long windowBytes;
  private int leases;
  private int slots;
  private boolean refused;

  /**
   * Number of leases that hold a window; not an Integer, so that the end of one allocates nothing.
   */
  private static final class Held {
    private int leases;
  }

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

  /** Whether a lease may hold a registered window. */
  boolean canHold(FileWindow window) {
    return hasRoomForWindows() || windows.containsKey(window);
  }

  boolean hasRoomForWindows() {
    return windowBytes < maxWindowBytes;
  }

  /** Checks whether the peer may hold another slot; remembers a refusal. */
  boolean admitSlot() {
    return !refuse(slots >= maxSlots);
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

  void add(FileWindow window) {
    Held held = windows.computeIfAbsent(window, added -> new Held());
    held.leases++;
    if (held.leases == 1) {
      windowBytes += window.pinnedBytes();
    }
  }

  void remove(FileWindow window) {
    Held held = windows.get(window);
    held.leases--;
    if (held.leases == 0) {
      windows.remove(window);
      windowBytes -= window.pinnedBytes();
    }
  }

  void addSlot() {
    slots++;
  }

  void removeSlot() {
    slots--;
  }
}
