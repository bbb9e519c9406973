// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.util.List;
import java.util.function.Supplier;
import org.sparkrdma.launch.ProgressLine;

/**
 * Kills one executor, with SIGKILL, once in a sort: when the first tasks that read the shuffle are
 * done and others still read. Owned by the thread that follows the application's progress.
 */
final class ExecutorLoss {
  private final int tasks;
  private final Supplier<List<ProcessHandle>> executors;
  private boolean over;

  /**
   * @param tasks that the sort's job has at least: as many that write as that read
   */
  ExecutorLoss(int tasks, Supplier<List<ProcessHandle>> executors) {
    this.tasks = tasks;
    this.executors = executors;
  }

  /** Returns whether an executor was killed now. */
  boolean onStep(ProgressLine step) {
    if (over || step.total() < tasks || step.done() <= step.total() / 2) {
      return false;
    }
    over = true;
    List<ProcessHandle> running = executors.get();
    return !running.isEmpty() && running.get(0).destroyForcibly();
  }
}
