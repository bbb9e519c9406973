// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class LatencyHistogramTest {
  private final LatencyHistogram histogram = new LatencyHistogram();

  @Test
  void shouldBeAtMostAnEighthTooHigh() {
    for (long latencyNs : new long[] {1_000, 12_345, 1_000_000, 999_999_999, 60_000_000_000L}) {
      LatencyHistogram one = new LatencyHistogram();
      one.record(latencyNs);
      double exactUs = latencyNs / 1_000.0;
      assertThat((double) one.quantileUs(0.5)).isBetween(exactUs, exactUs * 1.125 + 1);
    }
  }

  @Test
  void shouldFindMedianAndTail() {
    Random random = new Random(5);
    for (int i = 0; i < 100_000; i++) {
      histogram.record(random.nextInt(1_000_000));
    }
    assertThat(histogram.quantileUs(0.5)).isBetween(490L, 570L);
    assertThat(histogram.quantileUs(0.99)).isBetween(980L, 1_130L);
    assertThat(histogram.quantileUs(1)).isBetween(999L, 1_130L);
  }

  @Test
  void shouldTakeAnyLatency() {
    assertThat(histogram.quantileUs(0.99)).isZero();
    histogram.record(-1);
    histogram.record(0);
    assertThat(histogram.quantileUs(0.5)).isZero();
    histogram.record(Long.MAX_VALUE);
    assertThat(histogram.quantileUs(1)).isPositive();
  }
}
