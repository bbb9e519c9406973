// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.OptionalLong;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Deregisters idle memory: after the idle time-out, when its map output is removed, and at once
 * when other uses of this executor need it. Used with the server's lock.
 *
 * <p>Deregistration takes long, and disk threads wait for the lock. So a turn deregisters a few
 * windows, and the next one follows after a pause, in which the lock is free.
 */
final class IdleMemory {
  /** Maximum number of windows that one turn deregisters. */
  static final int MAX_WINDOWS = 8;

  /** Time between two turns while more windows are left. */
  static final Duration PAUSE = Duration.ofMillis(1);

  private final long idleNs;
  private final PinnedBudget budget;
  private final UnleasedWindows windows;
  private final CopySlots slots;
  private final ShuffleCounters counters;
  private boolean pausing;
  private long pauseEndNs;
  private boolean sweeping;
  private long nextSweepNs;

  /**
   * @param slots null when copying is off
   */
  IdleMemory(
      ServeSettings settings,
      PinnedBudget budget,
      UnleasedWindows windows,
      CopySlots slots,
      ShuffleCounters counters) {
    this.idleNs = settings.idle().toNanos();
    this.budget = budget;
    this.windows = windows;
    this.slots = slots;
    this.counters = counters;
  }

  /** Deregisters windows of removed map outputs, and memory idle for the idle time-out. */
  void release(long nowNs) {
    if (!pausing || nowNs - pauseEndNs >= 0) {
      int removed = windows.deregisterRemoved(MAX_WINDOWS);
      int returned = windows.deregisterIdleSince(nowNs - idleNs, MAX_WINDOWS - removed);
      counters.add(Counter.WINDOWS_RETURNED, returned);
      pausing = removed + returned == MAX_WINDOWS;
      pauseEndNs = nowNs + PAUSE.toNanos();
    }
    releaseSlots(nowNs);
  }

  private void releaseSlots(long nowNs) {
    if (slots == null || !slots.isRegistered()) {
      sweeping = false;
    } else if (!sweeping) {
      sweeping = true;
      nextSweepNs = nowNs + idleNs;
    } else if (nextSweepNs - nowNs <= 0) {
      slots.trimUnused();
      nextSweepNs = nowNs + idleNs;
    }
  }

  /** Makes room for another use, in the budget or at the device; leased memory stays. */
  void makeRoom(long lengthBytes) {
    boolean refusedByDevice = budget.takeRefusal();
    boolean made = windows.makeRoom(lengthBytes);
    if (refusedByDevice) {
      made &= windows.evictForDevice(lengthBytes, MAX_WINDOWS) > 0;
    }
    if (!made && slots != null && slots.trim()) {
      windows.makeRoom(lengthBytes);
    }
  }

  /** Time of the next call that may deregister memory; empty when nothing is idle. */
  OptionalLong nextDeadlineNs() {
    OptionalLong since = windows.idleSinceNs();
    if (since.isEmpty() && !windows.hasRemoved()) {
      return sweeping ? OptionalLong.of(nextSweepNs) : OptionalLong.empty();
    }
    // The end of the last pause is in the past, or the next turn follows at once.
    long dueNs = windows.hasRemoved() ? pauseEndNs : since.getAsLong() + idleNs;
    long deadlineNs = pausing && dueNs - pauseEndNs < 0 ? pauseEndNs : dueNs;
    return OptionalLong.of(sweeping && nextSweepNs - deadlineNs < 0 ? nextSweepNs : deadlineNs);
  }
}
