// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest.cluster;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;

/**
 * Sums the metrics of an application's tasks, and runs an action once when a reader starts or has
 * ended. Called on Spark's listener thread.
 */
final class TaskLog extends SparkListener {
  private final Set<Integer> readers = new HashSet<>();
  private final LongAdder remoteBytes = new LongAdder();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicReference<Runnable> atReaderStart = new AtomicReference<>();
  private final AtomicReference<Runnable> atReaderEnd = new AtomicReference<>();

  long remoteBytesRead() {
    return remoteBytes.sum();
  }

  int failedTasks() {
    return failed.get();
  }

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
    if (event.stageInfo().shuffleDepId().isEmpty()) {
      readers.add(event.stageInfo().stageId());
    }
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    if (event.reason() != Success$.MODULE$) {
      failed.incrementAndGet();
    }
    if (event.taskMetrics() != null) {
      remoteBytes.add(event.taskMetrics().shuffleReadMetrics().remoteBytesRead());
    }
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
