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
package org.sparkrdma.benchmarks.recovery;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Kills an executor with SIGKILL when a number of reducers has ended, and counts what Spark has to
 * do again.
 *
 * <p>Written by Spark's listener thread, read by any when that has no more to tell.
 */
final class ExecutorLoss extends SparkListener {
  private final long pid;
  private final int afterReducers;
  private final AtomicInteger failedTasks = new AtomicInteger();
  private final AtomicInteger retriedStages = new AtomicInteger();
  private int reducersEnded;
  private volatile long lossNs;

  /**
   * @param pid of the executor, on this machine
   */
  ExecutorLoss(long pid, int afterReducers) {
    this.pid = pid;
    this.afterReducers = afterReducers;
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.reason() != Success$.MODULE$) {
      failedTasks.incrementAndGet();
    } else if (end.taskType().equals("ResultTask") && ++reducersEnded == afterReducers) {
      lossNs = System.nanoTime();
      ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    if (submitted.stageInfo().attemptNumber() > 0) {
      retriedStages.incrementAndGet();
    }
  }

  /** When the executor was killed, as {@link System#nanoTime} tells; 0 before. */
  long lossNs() {
    return lossNs;
  }

  int failedTasks() {
    return failedTasks.get();
  }

  int retriedStages() {
    return retriedStages.get();
  }
}
