// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts latencies in buckets whose bounds grow by a fixed factor: eight buckets from a power of
 * two to the next, so that a quantile is at most an eighth too high. HdrHistogram (its 2.2.2 has
 * 177 KB) does not fit into the 2 MB of the plug-in's jar. Safe for any thread.
 */
public final class LatencyHistogram {
  private static final int PER_OCTAVE_BITS = 3;
  private static final int PER_OCTAVE = 1 << PER_OCTAVE_BITS;
  private static final int BUCKETS = PER_OCTAVE * 40;

  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

  /** Counts one latency. */
  public void record(long latencyNs) {
    counts.incrementAndGet(bucket(Math.max(0, latencyNs)));
  }

  private static int bucket(long latencyNs) {
    if (latencyNs < PER_OCTAVE) {
      return (int) latencyNs;
    }
    int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(latencyNs) - PER_OCTAVE_BITS;
    return Math.min(BUCKETS - 1, (octave * PER_OCTAVE) + (int) (latencyNs >>> octave));
  }

  private static long upperNs(int bucket) {
    if (bucket < PER_OCTAVE) {
      return bucket;
    }
    int octave = bucket / PER_OCTAVE - 1;
    return ((long) (PER_OCTAVE + bucket % PER_OCTAVE + 1) << octave) - 1;
  }

  /**
   * The latency in microseconds, rounded up, that this part of all does not exceed; 0 without any.
   *
   * @param part from 0 to 1
   */
  public long quantileUs(double part) {
    long total = 0;
    for (int i = 0; i < BUCKETS; i++) {
      total += counts.get(i);
    }
    long wanted = (long) Math.ceil(part * total);
    long seen = 0;
    for (int i = 0; i < BUCKETS && total > 0; i++) {
      seen += counts.get(i);
      if (seen >= wanted && seen > 0) {
        long microsecond = TimeUnit.MICROSECONDS.toNanos(1);
        return (upperNs(i) + microsecond - 1) / microsecond;
      }
    }
    return 0;
  }
}
