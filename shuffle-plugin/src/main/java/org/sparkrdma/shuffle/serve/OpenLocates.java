// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * The LOCATEs that wait for disks. The server's thread answers those that wait too long, whatever
 * the disk's threads do. Also the LOCATEs that an Error has ended, until they are answered and hold
 * nothing. Used with the server's lock.
 */
final class OpenLocates {
  /** Time between two checks: bounds what a check of many requests costs. */
  static final long CHECK_NS = 10_000_000;

  /** Maximum number of attempts to end a LOCATE after an Error: by then its reader uses TCP. */
  private static final int MAX_ABORTS = 3_000;

  private static final Logger LOG = LoggerFactory.getLogger(OpenLocates.class);

  private final LocateAnswers answers;
  private final LoadLimits limits;
  private final LongSupplier nanoClock;
  private final Set<LocateTask> open = new LinkedHashSet<>();
  private final LogLimit lines = new LogLimit();
  private LocateTask firstToAbort;
  private long checkedNs;

  OpenLocates(LocateAnswers answers, LoadLimits limits, LongSupplier nanoClock) {
    this.answers = answers;
    this.limits = limits;
    this.nanoClock = nanoClock;
    this.checkedNs = nanoClock.getAsLong();
  }

  void add(LocateTask task) {
    if (open.isEmpty()) {
      checkedNs = nanoClock.getAsLong();
    }
    open.add(task);
  }

  void remove(LocateTask task) {
    open.remove(task);
  }

  /** Time of the next check; empty when nothing waits. */
  OptionalLong nextDeadlineNs() {
    return isEmpty() ? OptionalLong.empty() : OptionalLong.of(checkedNs + CHECK_NS);
  }

  private boolean isEmpty() {
    return open.isEmpty() && firstToAbort == null;
  }

  /**
   * Ends a LOCATE after an Error in one of its steps; when that fails as well, it is tried again at
   * each check. Never throws.
   */
  void abort(LocateTask task, Throwable why) {
    log(task, why);
    task.markAborted();
    open.remove(task);
    if (!task.awaitsAbort()) {
      tryAbort(task);
    }
  }

  private void tryAbort(LocateTask task) {
    try {
      answers.abort(task);
    } catch (Throwable e) {
      if (task.abortsFailed() < MAX_ABORTS) {
        task.awaitAbort(firstToAbort);
        firstToAbort = task;
      }
    }
  }

  private void log(LocateTask task, Throwable why) {
    try {
      lines
          .next(task.call().peer())
          .ifPresent(
              omitted ->
                  LOG.warn(
                      "Unexpected failure in a LOCATE: connection={}; the reader uses TCP{}",
                      task.call().peer(),
                      omitted,
                      why));
    } catch (Throwable noMemory) {
      // The reader waits for the answer, not for the line.
    }
  }

  /** Tries again to end LOCATEs after an Error. */
  void abortAgain() {
    LocateTask task = firstToAbort;
    firstToAbort = null;
    while (task != null) {
      LocateTask next = task.pollNextToAbort();
      tryAbort(task);
      task = next;
    }
  }

  /** Answers those that have waited too long, when a check is due. */
  void check(long nowNs) {
    if (isEmpty() || nowNs - checkedNs < CHECK_NS) {
      return;
    }
    checkedNs = nowNs;
    abortAgain();
    for (LocateTask task : List.copyOf(open)) {
      try {
        checkOne(task, nowNs);
      } catch (Throwable e) {
        // The check of the others goes on.
        abort(task, e);
      }
    }
  }

  private void checkOne(LocateTask task, long nowNs) {
    if (answers.isAbandoned(task)) {
      answers.drop(task);
    } else {
      check(task, nowNs);
    }
    if (task.isEnded()) {
      open.remove(task);
    }
  }

  private void check(LocateTask task, long nowNs) {
    for (LocatePart part : task.parts()) {
      boolean late = part.isQueued() && part.waitNs(nowNs) > limits.maxWaitNs();
      boolean hangs = part.isActive() && task.ageNs(nowNs) > limits.maxHangNs();
      if (late || hangs) {
        answers.overload(part);
      }
    }
    if (task.isActive() && task.holds(limits.maxHoldNs(), nowNs)) {
      answers.holdBack(task);
    }
    if (!task.isActive()) {
      answers.finish(task);
    }
  }
}
