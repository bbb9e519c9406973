// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The LOCATEs that wait for disks. The server's thread answers those that wait too long, whatever
 * the disk's threads do. Used with the server's lock.
 */
final class OpenLocates {
  /** Time between two checks: bounds what a check of many requests costs. */
  static final long CHECK_NS = 10_000_000;

  private final LocateAnswers answers;
  private final LoadLimits limits;
  private final LongSupplier nanoClock;
  private final Set<LocateTask> open = new LinkedHashSet<>();
  private long checkedNs;

  OpenLocates(LocateAnswers answers, LoadLimits limits, LongSupplier nanoClock) {
    this.answers = answers;
    this.limits = limits;
    this.nanoClock = nanoClock;
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
    return open.isEmpty() ? OptionalLong.empty() : OptionalLong.of(checkedNs + CHECK_NS);
  }

  /** Answers those that have waited too long, when a check is due. */
  void check(long nowNs) {
    if (open.isEmpty() || nowNs - checkedNs < CHECK_NS) {
      return;
    }
    checkedNs = nowNs;
    for (LocateTask task : List.copyOf(open)) {
      if (answers.isAbandoned(task)) {
        answers.drop(task);
      } else {
        check(task, nowNs);
      }
      if (task.isEnded()) {
        open.remove(task);
      }
    }
  }

  private void check(LocateTask task, long nowNs) {
    for (LocateLane lane : task.lanes()) {
      boolean late = lane.isQueued() && lane.waitNs(nowNs) > limits.maxWaitNs();
      boolean hangs = lane.isActive() && task.ageNs(nowNs) > limits.maxHangNs();
      if (late || hangs) {
        answers.overload(lane);
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
