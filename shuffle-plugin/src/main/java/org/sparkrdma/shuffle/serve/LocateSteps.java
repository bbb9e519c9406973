// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Runs each LOCATE from step to step: on the server's thread as far as it needs no disk, then on a
 * thread of each disk that it needs. Takes the server's lock for each step. Safe for any thread; a
 * LOCATE is on one of them at a time.
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
    advance(task, Locator.NO_DISK);
  }

  /**
   * @param disk whose thread runs this
   */
  private void advance(LocateTask task, int disk) {
    int next = advanceLocked(task, disk);
    if (next != Locator.ENDED) {
      goOnAt(task, next);
    } else if (disk != Locator.NO_DISK) {
      onNewDeadline.run();
    }
  }

  private int advanceLocked(LocateTask task, int disk) {
    state.lock();
    try {
      return locator.advance(task, disk);
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
      return Locator.ENDED;
    } finally {
      state.unlock();
    }
  }

  private void goOnAt(LocateTask task, int disk) {
    try {
      disks.get(disk).execute(() -> advance(task, disk));
    } catch (Throwable e) {
      LOG.trace(
          "No disk thread for a LOCATE: connection={} disk={}; the reader uses TCP",
          task.call().peer(),
          disk,
          e);
      giveUp(task);
    }
  }

  private void giveUp(LocateTask task) {
    state.lock();
    try {
      locator.giveUp(task);
    } finally {
      state.unlock();
    }
  }
}
