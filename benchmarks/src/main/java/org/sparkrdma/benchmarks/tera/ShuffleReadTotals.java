// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Sums what Spark itself says its tasks read in shuffles.
 *
 * <p>Written by Spark's listener thread, read by any.
 */
public final class ShuffleReadTotals extends SparkListener {
  private final AtomicLong remoteBytes = new AtomicLong();
  private final AtomicLong localBytes = new AtomicLong();
  private final AtomicLong remoteBlocks = new AtomicLong();
  private final AtomicLong localBlocks = new AtomicLong();
  private final AtomicLong fetchWaitMs = new AtomicLong();
  private final AtomicLong failedTasks = new AtomicLong();

  /** Nothing read yet. */
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

  /** Adds what one task read. */
  public void add(ShuffleReadMetrics read) {
    remoteBytes.addAndGet(read.remoteBytesRead());
    localBytes.addAndGet(read.localBytesRead());
    remoteBlocks.addAndGet(read.remoteBlocksFetched());
    localBlocks.addAndGet(read.localBlocksFetched());
    fetchWaitMs.addAndGet(read.fetchWaitTime());
  }

  /** From other executors. */
  public long remoteBytes() {
    return remoteBytes.get();
  }

  /** From the executor of the task. */
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

  /** Time that tasks waited for remote blocks, as Spark's own pages show it. */
  public double fetchWaitSeconds() {
    return fetchWaitMs.get() / 1e3;
  }

  /** Tasks that did not succeed; what they had read is in the sums. */
  public long failedTasks() {
    return failedTasks.get();
  }
}
