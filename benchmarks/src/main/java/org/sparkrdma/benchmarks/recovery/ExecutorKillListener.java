// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Kills an executor with SIGKILL when a number of reducers has ended, and counts failed tasks and
 * retried stages.
 *
 * <p>Written by Spark's listener thread; read by any thread when the listener bus is empty.
 */
final class ExecutorKillListener extends SparkListener {
  private final long pid;
  private final int afterReducers;
  private final AtomicInteger failedTasks = new AtomicInteger();
  private final AtomicInteger retriedStages = new AtomicInteger();
  private int reducersEnded;
  private volatile long lossNs;

  /**
   * @param pid process of the executor, on this machine
   */
  ExecutorKillListener(long pid, int afterReducers) {
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

  /** Time of the kill, by {@link System#nanoTime}; 0 before it. */
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
