// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Runs each LOCATE from step to step: on the server's thread, or a small one on the agent's, as far
 * as it needs no disk, then on a thread of each disk that it needs. Takes the server's lock for
 * each step. Safe for any thread.
 */
final class LocateSteps {
  private static final Logger LOG = LoggerFactory.getLogger(LocateSteps.class);

  /** The deadlines of the server's thread. */
  interface Deadlines {
    /** Time of the next one; with the server's lock. */
    long nextNs();

    /** The next one may be earlier than before; without the lock. */
    void onChange(long nextNs);
  }

  private final Locator locator;
  private final List<DiskQueue> disks;
  private final StateLock state;
  private final Deadlines deadlines;
  private final LogLimit lines = new LogLimit();

  LocateSteps(Locator locator, List<DiskQueue> disks, StateLock state, Deadlines deadlines) {
    this.locator = locator;
    this.disks = disks;
    this.state = state;
    this.deadlines = deadlines;
  }

  /** The first steps of a LOCATE, on the server's thread. */
  void begin(LocateTask task) {
    state.lock();
    runLocked(task, () -> locator.begin(task));
  }

  /** The first steps of a LOCATE, on another thread; false when the lock is not free. */
  boolean tryBegin(LocateTask task) {
    if (!state.tryLock()) {
      return false;
    }
    deadlines.onChange(runLocked(task, () -> locator.begin(task)));
    return true;
  }

  private void run(LocateLane lane) {
    state.lock();
    deadlines.onChange(runLocked(lane.task(), () -> locator.run(lane)));
  }

  /**
   * Runs one step with the lock, which this thread has taken, and releases the lock.
   *
   * @return time of the next deadline
   */
  private long runLocked(LocateTask task, Supplier<List<LocateLane>> step) {
    List<LocateLane> next = List.of();
    long deadlineNs;
    try {
      next = step.get();
    } catch (Throwable e) {
      lines
          .next(task.call().peer())
          .ifPresent(
              omitted ->
                  LOG.warn(
                      "Unexpected failure in a LOCATE: connection={}; the reader times out and uses"
                          + " TCP{}",
                      task.call().peer(),
                      omitted,
                      e));
    } finally {
      try {
        deadlineNs = deadlines.nextNs();
      } finally {
        state.unlock();
      }
    }
    for (int i = 0; i < next.size(); i++) {
      queue(next.get(i));
    }
    return deadlineNs;
  }

  private void queue(LocateLane lane) {
    try {
      disks.get(lane.disk()).execute(() -> run(lane));
    } catch (Throwable e) {
      LOG.trace(
          "No disk thread for a LOCATE: connection={} disk={}; the reader uses TCP",
          lane.task().call().peer(),
          lane.disk(),
          e);
      state.lock();
      runLocked(lane.task(), () -> locator.giveUp(lane));
    }
  }
}
