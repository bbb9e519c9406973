// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Sums of Spark's own shuffle read metrics over all tasks.
 *
 * <p>Written by Spark's listener thread, read by any thread.
 */
public final class ShuffleReadTotals extends SparkListener {
  private final AtomicLong remoteBytes = new AtomicLong();
  private final AtomicLong localBytes = new AtomicLong();
  private final AtomicLong remoteBlocks = new AtomicLong();
  private final AtomicLong localBlocks = new AtomicLong();
  private final AtomicLong fetchWaitMs = new AtomicLong();
  private final AtomicLong failedTasks = new AtomicLong();

  /** All sums are 0. */
  public ShuffleReadTotals() {}

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      add(end.taskMetrics().shuffleReadMetrics());
    }
    if (!end.taskInfo().successful()) {
      failedTasks.incrementAndGet();
    }
  }

  /** Adds the metrics of one task. */
  public void add(ShuffleReadMetrics read) {
    remoteBytes.addAndGet(read.remoteBytesRead());
    localBytes.addAndGet(read.localBytesRead());
    remoteBlocks.addAndGet(read.remoteBlocksFetched());
    localBlocks.addAndGet(read.localBlocksFetched());
    fetchWaitMs.addAndGet(read.fetchWaitTime());
  }

  /** Bytes from other executors. */
  public long remoteBytes() {
    return remoteBytes.get();
  }

  /** Bytes from the executor of the task. */
  public long localBytes() {
    return localBytes.get();
  }

  /** Blocks from other executors. */
  public long remoteBlocks() {
    return remoteBlocks.get();
  }

  /** Blocks from the executor of the task. */
  public long localBlocks() {
    return localBlocks.get();
  }

  /** Time that tasks waited for remote blocks, in seconds, as on Spark's own pages. */
  public double fetchWaitSeconds() {
    return fetchWaitMs.get() / 1e3;
  }

  /** Number of tasks that failed; the sums contain their reads. */
  public long failedTasks() {
    return failedTasks.get();
  }
}
