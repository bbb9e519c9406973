// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;

/** Times of the requests of one round by one client, in microseconds. */
record Latencies(double p50Us, double p99Us) {
  private static final double NS_PER_US = 1e3;

  /**
   * @param ns at least one
   */
  static Latencies of(List<Long> ns) {
    long[] sorted = ns.stream().mapToLong(Long::longValue).sorted().toArray();
    return new Latencies(percentile(sorted, 0.5), percentile(sorted, 0.99));
  }

  /** The nearest-rank percentile: the smallest time that this share of all does not exceed. */
  private static double percentile(long[] sorted, double share) {
    int rank = (int) Math.ceil(share * sorted.length);
    return sorted[Math.max(0, rank - 1)] / NS_PER_US;
  }
}
