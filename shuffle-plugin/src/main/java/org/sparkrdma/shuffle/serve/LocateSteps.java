// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.List;

/**
 * Runs each LOCATE from step to step: on the server's thread, or a small one on the agent's, as far
 * as it needs no disk, then on a thread of each disk that it needs. Takes the server's lock for
 * each step. An Error in a step ends the LOCATE: it is answered all the same. Safe for any thread.
 */
final class LocateSteps {
  private enum Step {
    /** The first steps of a LOCATE. */
    BEGIN,
    /** A part, on a thread of its disk. */
    RUN,
    /** No thread can be had for a part. */
    GIVE_UP
  }

  private final Locator locator;
  private final List<DiskQueue> disks;
  private final StateLock state;
  private final ServerDeadlines deadlines;

  LocateSteps(Locator locator, List<DiskQueue> disks, StateLock state, ServerDeadlines deadlines) {
    this.locator = locator;
    this.disks = disks;
    this.state = state;
    this.deadlines = deadlines;
  }

  /** The first steps of a LOCATE, on the server's thread. Never throws. */
  void begin(LocateTask task) {
    state.lock();
    runLocked(Step.BEGIN, task, null);
  }

  /** The first steps of a LOCATE, on another thread; false when the lock is not free. */
  boolean tryBegin(LocateTask task) {
    if (!state.tryLock()) {
      return false;
    }
    deadlines.onChange(runLocked(Step.BEGIN, task, null));
    return true;
  }

  private void run(LocatePart part) {
    state.lock();
    deadlines.onChange(runLocked(Step.RUN, part.task(), part));
  }

  /**
   * Runs one step with the lock, which this thread has taken, and releases the lock.
   *
   * @param part null at the beginning
   * @return time of the next deadline
   */
  private long runLocked(Step step, LocateTask task, LocatePart part) {
    List<LocatePart> next = List.of();
    long deadlineNs;
    try {
      next = step(step, task, part);
    } catch (Throwable e) {
      locator.abort(task, step == Step.RUN ? part : null, e);
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

  /** No objects for steps: a thread that has taken the lock must not need memory to release it. */
  private List<LocatePart> step(Step step, LocateTask task, LocatePart part) {
    return switch (step) {
      case BEGIN -> locator.begin(task);
      case RUN -> locator.run(part);
      case GIVE_UP -> locator.giveUp(part);
    };
  }

  /** Runs parts that need not wait any longer because those before them take long. Never throws. */
  void handOver() {
    for (int i = 0; i < disks.size(); i++) {
      disks.get(i).handOver();
    }
  }

  private void queue(LocatePart part) {
    try {
      disks.get(part.disk()).execute(part.task().call().peer(), () -> run(part));
    } catch (Throwable e) {
      state.lock();
      runLocked(Step.GIVE_UP, part.task(), part);
    }
  }
}
