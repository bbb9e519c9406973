// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.util.List;
import java.util.function.Supplier;
import org.sparkrdma.launch.ProgressLine;

/**
 * Kills one executor with SIGKILL once in each run, when the first tasks that read the shuffle have
 * ended and others still read. Confined to the thread that reads the application's progress.
 */
final class ExecutorKiller {
  /** Runs are reported as "run 1 of 3"; other phases of an application begin with other words. */
  private static final String RUN = "run ";

  private final Supplier<List<ProcessHandle>> executors;
  private String phase = "";
  private boolean over;

  ExecutorKiller(Supplier<List<ProcessHandle>> executors) {
    this.executors = executors;
  }

  /** Returns whether an executor was killed now. */
  boolean onStep(ProgressLine step) {
    if (!step.phase().startsWith(RUN)) {
      return false;
    }
    if (!step.phase().equals(phase)) {
      phase = step.phase();
      over = false;
    }
    if (over || step.done() <= step.total() / 2) {
      return false;
    }
    over = true;
    List<ProcessHandle> running = executors.get();
    return !running.isEmpty() && running.get(0).destroyForcibly();
  }
}
