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

  /** Nothing read yet. */
  public ShuffleReadTotals() {}

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
      remoteBytes.addAndGet(read.remoteBytesRead());
      localBytes.addAndGet(read.localBytesRead());
    }
  }

  /** From other executors. */
  public long remoteBytes() {
    return remoteBytes.get();
  }

  long localBytes() {
    return localBytes.get();
  }
}
