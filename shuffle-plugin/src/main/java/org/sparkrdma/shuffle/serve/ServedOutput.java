// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.OptionalLong;
import org.sparkrdma.shuffle.output.MapOutput;

/** A cached map output and the registered windows of its file. Used with the server's lock. */
final class ServedOutput {
  private final MapOutput mapOutput;
  private final FileWindow[] windows;
  private final long[] copyCosts;
  private final boolean[] registering;
  private final int shuffleId;
  private final long mapId;
  private final int disk;
  private int registered;
  private int leased;
  private int users;
  private OptionalLong blockedUntilNs = OptionalLong.empty();
  private boolean removed;
  private PendingUnregistration pending;

  /**
   * @param disk index of the disk of its data file
   */
  ServedOutput(int shuffleId, long mapId, MapOutput mapOutput, int disk, int windowBytes) {
    this.shuffleId = shuffleId;
    this.mapId = mapId;
    this.mapOutput = mapOutput;
    this.disk = disk;
    this.windows =
        new FileWindow[Math.toIntExact((mapOutput.lengthBytes() + windowBytes - 1) / windowBytes)];
    this.copyCosts = new long[windows.length];
    this.registering = new boolean[windows.length];
  }

  boolean is(int otherShuffleId, long otherMapId) {
    return shuffleId == otherShuffleId && mapId == otherMapId;
  }

  /** Index of the disk of its data file. */
  int disk() {
    return disk;
  }

  /** A request begins to use it; until {@link #endUse} it stays in the cache. */
  void beginUse() {
    users++;
  }

  void endUse() {
    users--;
  }

  /** Cost so far of copies out of an unregistered window. */
  long copyCostNs(int window) {
    return copyCosts[window];
  }

  void addCopyCost(int window, long ns) {
    copyCosts[window] += ns;
  }

  MapOutput mapOutput() {
    return mapOutput;
  }

  int windowCount() {
    return windows.length;
  }

  /** The window at an index; null when it is not registered. */
  FileWindow window(int index) {
    return windows[index];
  }

  /** A registration of a window begins; it counts as registered from now on. */
  void beginRegistration(int index) {
    registering[index] = true;
    registered++;
  }

  /** Whether another request is registering a window. */
  boolean isRegistering(int index) {
    return registering[index];
  }

  /** The registration has ended with this window. */
  void onRegistered(FileWindow window) {
    registering[window.index()] = false;
    windows[window.index()] = window;
  }

  /** The registration has ended without a window. */
  void onRegistrationFailed(int index) {
    registering[index] = false;
    onWindowGone();
  }

  /** A window was deregistered. */
  void onDeregistered(FileWindow window) {
    windows[window.index()] = null;
    onWindowGone();
  }

  /** The last window completes a pending unregistration. */
  private void onWindowGone() {
    registered--;
    if (registered == 0 && pending != null) {
      pending.onOutputGone();
    }
  }

  void onLeased() {
    leased++;
  }

  void onIdle() {
    leased--;
  }

  /** Whether it must stay in the cache: a window is leased, or a request uses it. */
  boolean isInUse() {
    return leased > 0 || users > 0;
  }

  /** Whether a window of it is registered. */
  boolean isRegistered() {
    return registered > 0;
  }

  /** The device refused a window: not to be tried again before this time. */
  void blockRegistration(long untilNs) {
    blockedUntilNs = OptionalLong.of(untilNs);
  }

  boolean mayRegister(long nowNs) {
    return !removed && (blockedUntilNs.isEmpty() || nowNs - blockedUntilNs.getAsLong() >= 0);
  }

  /** Called after its removal from the cache: no window of it may be registered any more. */
  void remove() {
    removed = true;
  }

  boolean isRemoved() {
    return removed;
  }

  /** Its shuffle is unregistered: windows are deregistered when their leases end. */
  void unregister(PendingUnregistration why) {
    pending = why;
  }

  /** Whether its shuffle is unregistered. */
  boolean isUnregistered() {
    return pending != null;
  }
}
