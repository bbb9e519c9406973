// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.sparkrdma.scenarios.JobLog;

/**
 * Sums the metrics of an application's tasks, and runs an action once when a reader starts or has
 * ended. Called on Spark's listener thread.
 */
final class TaskLog extends JobLog {
  private final Set<Integer> readers = new HashSet<>();
  private final AtomicReference<Runnable> atReaderStart = new AtomicReference<>();
  private final AtomicReference<Runnable> atReaderEnd = new AtomicReference<>();

  /** Runs the action once, when the next reader starts. */
  void atReaderStart(Runnable action) {
    atReaderStart.set(action);
  }

  /** Runs the action once, when the next reader has ended and others still run. */
  void atReaderEnd(Runnable action) {
    atReaderEnd.set(action);
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart event) {
    if (readers.contains(event.stageId())) {
      runOnce(atReaderStart);
    }
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    super.onStageSubmitted(event);
    if (event.stageInfo().shuffleDepId().isEmpty()) {
      readers.add(event.stageInfo().stageId());
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    super.onTaskEnd(event);
    if (event.taskType().equals("ResultTask")) {
      runOnce(atReaderEnd);
    }
  }

  private static void runOnce(AtomicReference<Runnable> waiting) {
    Runnable action = waiting.getAndSet(null);
    if (action != null) {
      action.run();
    }
  }
}
