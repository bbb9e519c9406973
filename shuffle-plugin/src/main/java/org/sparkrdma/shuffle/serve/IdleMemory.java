// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.OptionalLong;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Deregisters idle memory: after the idle time-out, and at once when other uses of this executor
 * need it. Used with the server's lock.
 */
final class IdleMemory {
  private final long idleNs;
  private final RegisteredFiles files;
  private final CopySlots slots;
  private final ShuffleCounters counters;
  private boolean sweeping;
  private long nextSweepNs;

  /**
   * @param slots null when copying is off
   */
  IdleMemory(
      ServeSettings settings, RegisteredFiles files, CopySlots slots, ShuffleCounters counters) {
    this.idleNs = settings.idle().toNanos();
    this.files = files;
    this.slots = slots;
    this.counters = counters;
  }

  /** Deregisters memory that has been idle for the idle time-out. */
  void release(long nowNs) {
    int windows = files.deregisterIdleSince(nowNs - idleNs);
    counters.add(Counter.WINDOWS_RETURNED, windows);
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

  /** Makes room for another use; leased memory stays. */
  void makeRoom(long lengthBytes) {
    boolean made = files.makeRoom(lengthBytes);
    if (!made && slots != null && slots.trim()) {
      files.makeRoom(lengthBytes);
    }
  }

  /** Time of the next call that may deregister memory; empty when nothing is idle. */
  OptionalLong nextDeadlineNs() {
    OptionalLong since = files.idleSinceNs();
    if (since.isEmpty()) {
      return sweeping ? OptionalLong.of(nextSweepNs) : OptionalLong.empty();
    }
    long deadlineNs = since.getAsLong() + idleNs;
    return OptionalLong.of(sweeping && nextSweepNs - deadlineNs < 0 ? nextSweepNs : deadlineNs);
  }
}
