// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster.job;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.Success$;
import org.apache.spark.TaskKilled;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Ends of tasks and executors. Called on Spark's listener thread; read by any thread. */
final class ExecutorEvents extends SparkListener {
  /** Reasons by executor id: on YARN Spark reports the end of a container twice. */
  private final Map<String, String> removed = new TreeMap<>();

  private long remoteBytes;
  private int failedTasks;
  private int reducersLeft;
  private Runnable action = () -> {};

  /** Runs an action once, when this many more reducers have ended. */
  synchronized void afterReducers(int reducers, Runnable action) {
    this.reducersLeft = reducers;
    this.action = action;
  }

  @Override
  public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
    if (!(end.reason() instanceof TaskKilled) && end.reason() != Success$.MODULE$) {
      failedTasks++;
    }
    if (end.taskMetrics() != null) {
      remoteBytes += end.taskMetrics().shuffleReadMetrics().remoteBytesRead();
    }
    if (end.taskType().equals("ResultTask") && --reducersLeft == 0) {
      action.run();
    }
  }

  @Override
  public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    removed.put(event.executorId(), event.reason());
  }

  synchronized List<String> removed() {
    return List.copyOf(removed.values());
  }

  synchronized long remoteBytes() {
    return remoteBytes;
  }

  synchronized int failedTasks() {
    return failedTasks;
  }
}
