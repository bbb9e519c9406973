// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.OptionalLong;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Deregisters idle memory: after the idle time-out, after the end of its shuffle, and at once when
 * other uses of this executor need it. Used with the server's lock.
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
  private final ServedOutputs outputs;
  private final RegisteredFiles files;
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
      ServedOutputs outputs,
      RegisteredFiles files,
      CopySlots slots,
      ShuffleCounters counters) {
    this.idleNs = settings.idle().toNanos();
    this.outputs = outputs;
    this.files = files;
    this.slots = slots;
    this.counters = counters;
  }

  /** Deregisters idle windows of unregistered shuffles, and memory idle for the idle time-out. */
  void release(long nowNs) {
    if (!pausing || nowNs - pauseEndNs >= 0) {
      int unregistered = outputs.deregisterUnregistered(MAX_WINDOWS);
      int returned = files.deregisterIdleSince(nowNs - idleNs, MAX_WINDOWS - unregistered);
      counters.add(Counter.WINDOWS_RETURNED, returned);
      pausing = unregistered + returned == MAX_WINDOWS;
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
    long dueNs = since.getAsLong() + idleNs;
    boolean isDue = outputs.hasUnregistered() || dueNs - pauseEndNs < 0;
    long deadlineNs = pausing && isDue ? pauseEndNs : dueNs;
    return OptionalLong.of(sweeping && nextSweepNs - deadlineNs < 0 ? nextSweepNs : deadlineNs);
  }
}
