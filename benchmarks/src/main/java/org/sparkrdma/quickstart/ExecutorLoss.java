/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
