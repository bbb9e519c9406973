// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Runs each LOCATE from step to step: on the server's thread as far as it needs no disk, then on a
 * thread of each disk that it needs. Takes the server's lock for each step. Safe for any thread.
 */
final class LocateSteps {
  private static final Logger LOG = LoggerFactory.getLogger(LocateSteps.class);

  private final Locator locator;
  private final List<DiskQueue> disks;
  private final StateLock state;
  private final Runnable onNewDeadline;
  private final LogLimit lines = new LogLimit();

  /**
   * @param onNewDeadline run on a disk's thread when a lease may have the first deadline
   */
  LocateSteps(Locator locator, List<DiskQueue> disks, StateLock state, Runnable onNewDeadline) {
    this.locator = locator;
    this.disks = disks;
    this.state = state;
    this.onNewDeadline = onNewDeadline;
  }

  /** The first steps of a LOCATE, on the server's thread. */
  void begin(LocateTask task) {
    step(task, () -> locator.begin(task));
  }

  private void run(LocateLane lane) {
    step(lane.task(), () -> locator.run(lane));
    onNewDeadline.run();
  }

  private void step(LocateTask task, Supplier<List<LocateLane>> work) {
    List<LocateLane> next = locked(task, work);
    for (int i = 0; i < next.size(); i++) {
      queue(next.get(i));
    }
  }

  private List<LocateLane> locked(LocateTask task, Supplier<List<LocateLane>> work) {
    state.lock();
    try {
      return work.get();
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
      return List.of();
    } finally {
      state.unlock();
    }
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
      step(lane.task(), () -> locator.giveUp(lane));
    }
  }
}
