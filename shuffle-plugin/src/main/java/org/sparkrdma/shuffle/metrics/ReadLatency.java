// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.AtomicHistogram;

/**
 * Latencies of the READs of one executor, in an HdrHistogram with two significant digits from 1 ns
 * to one hour: 37 KB, which never grow. The thread {@code rdma-agent} records, and the thread
 * {@code rdma-control} reads; any thread may do both.
 *
 * <p>An {@link AtomicHistogram}, because recording must neither allocate nor wait. Its counts only
 * grow, and the total is counted last: a percentile that is read while others record is found in
 * one pass, and differs by at most as many ranks as values were recorded meanwhile. A Recorder
 * would give exact snapshots, for a second histogram and three times as many classes in the jar. A
 * ConcurrentHistogram adds only resizing.
 */
public final class ReadLatency {
  /** A READ takes at most {@code spark.shuffle.rdma.request.timeout}, which is at most 30 min. */
  private static final long MAX_NS = TimeUnit.HOURS.toNanos(1);

  private static final int SIGNIFICANT_DIGITS = 2;
  private static final long MICROSECOND_NS = TimeUnit.MICROSECONDS.toNanos(1);

  private final AtomicHistogram histogram = new AtomicHistogram(MAX_NS, SIGNIFICANT_DIGITS);

  /**
   * Counts one latency, without a lock or an allocation.
   *
   * @param latencyNs counted as 0 where it is negative, and as one hour where it is longer
   */
  public void record(long latencyNs) {
    histogram.recordValue(Math.max(0, Math.min(MAX_NS, latencyNs)));
  }

  /**
   * The latency in microseconds that this percentage of all READs did not exceed. It is at most 1 %
   * higher than the exact one, and then rounded up to a whole microsecond; 0 where none was
   * recorded.
   *
   * @param percent above 0, at most 100
   */
  public long percentileUs(double percent) {
    long latencyNs = histogram.getValueAtPercentile(percent);
    return (latencyNs + MICROSECOND_NS - 1) / MICROSECOND_NS;
  }
}
