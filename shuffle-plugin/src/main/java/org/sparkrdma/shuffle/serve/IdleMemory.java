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
 * regions, and the next one follows after a pause, in which the lock is free. Where other uses need
 * the memory at once, the next turn follows as soon as those threads had the lock that wait for it.
 */
final class IdleMemory {
  /** Maximum number of windows and regions of slots that one turn deregisters. */
  static final int MAX_REGIONS = 8;

  /** Time between two turns while more of them are left. */
  static final Duration PAUSE = Duration.ofMillis(1);

  private final long idleNs;
  private final PinnedBudget budget;
  private final UnleasedWindows windows;
  private final CopySlots slots;
  private final ShuffleCounters counters;
  private boolean pausing;
  private long pauseEndNs;

  /** Whether memory is registered for slots, which {@link #nextSweepNs} checks. */
  private boolean sweeping;

  private long nextSweepNs;

  /** Whether the last sweep has left regions that it has marked as idle. */
  private boolean marked;

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
    if (pausing && nowNs - pauseEndNs < 0) {
      return;
    }
    int windowCount = windows.deregisterRemoved(MAX_REGIONS);
    int returned = windows.deregisterIdleSince(nowNs - idleNs, MAX_REGIONS - windowCount);
    counters.add(Counter.WINDOWS_RETURNED, returned);
    windowCount += returned;
    pausing = windowCount + releaseSlots(nowNs, MAX_REGIONS - windowCount) == MAX_REGIONS;
    pauseEndNs = nowNs + PAUSE.toNanos();
  }

  /** Returns the number of regions that were deregistered. */
  private int releaseSlots(long nowNs, int max) {
    if (slots == null || !slots.isRegistered()) {
      sweeping = false;
      return 0;
    }
    if (!sweeping) {
      sweeping = true;
      marked = false;
      nextSweepNs = nowNs + idleNs;
    }
    if (nextSweepNs - nowNs > 0) {
      return 0;
    }
    if (!marked) {
      slots.markIdle();
    }
    int trimmed = slots.trimIdle(max);
    marked = trimmed == max;
    nextSweepNs = nowNs + (marked ? PAUSE.toNanos() : idleNs);
    return trimmed;
  }

  /**
   * Makes room for another use, in the budget or at the device; leased memory stays. Deregisters at
   * most {@value #MAX_REGIONS} regions.
   *
   * @return whether another call will make more of that room
   */
  boolean makeRoom(long lengthBytes) {
    boolean refusedByDevice = budget.takeRefusal();
    int before = windows.windowCount();
    boolean enough = windows.makeRoom(lengthBytes, MAX_REGIONS);
    int left = MAX_REGIONS - (before - windows.windowCount());
    if (refusedByDevice && left > 0) {
      int evicted = windows.evictForDevice(lengthBytes, left);
      enough &= evicted > 0;
      left -= evicted;
    }
    if (!enough && slots != null && left > 0) {
      int trimmed = slots.trim(left);
      enough = trimmed > 0 && windows.makeRoom(lengthBytes, left - trimmed);
    }
    return enough && !budget.couldGrant(lengthBytes, 0);
  }

  /** Time of the next call that may deregister memory; empty when nothing is idle. */
  OptionalLong nextDeadlineNs() {
    OptionalLong dueNs = nextDueNs();
    return pausing && dueNs.isPresent() && dueNs.getAsLong() - pauseEndNs < 0
        ? OptionalLong.of(pauseEndNs)
        : dueNs;
  }

  private OptionalLong nextDueNs() {
    OptionalLong since = windows.idleSinceNs();
    if (since.isEmpty() && !windows.hasRemoved()) {
      return sweeping ? OptionalLong.of(nextSweepNs) : OptionalLong.empty();
    }
    // The end of the last pause is in the past, or the next turn follows at once.
    long dueNs = windows.hasRemoved() ? pauseEndNs : since.getAsLong() + idleNs;
    return OptionalLong.of(sweeping && nextSweepNs - dueNs < 0 ? nextSweepNs : dueNs);
  }
}
