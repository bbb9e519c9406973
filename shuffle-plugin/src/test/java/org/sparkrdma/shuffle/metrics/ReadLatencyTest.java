// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReadLatencyTest {
  private static final int MANY = 200_000;
  private static final long SHORT_NS = 10_000;
  private static final long LONG_NS = 1_000_000;

  private final ReadLatency latency = new ReadLatency();

  @Test
  void shouldTakeAnyLatency() {
    assertThat(latency.percentileUs(99)).isZero();
    latency.record(-1);
    latency.record(Long.MIN_VALUE);
    latency.record(0);
    assertThat(latency.percentileUs(50)).isZero();
    latency.record(Long.MAX_VALUE);
    assertThat(latency.percentileUs(100)).isBetween(3_600_000_000L, 3_636_000_000L);
  }

  @Test
  void shouldRecordWithoutAllocations() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    record(MANY, SHORT_NS);
    long before = threads.getCurrentThreadAllocatedBytes();
    record(MANY, LONG_NS);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MANY / 10);
  }

  private void record(int times, long latencyNs) {
    for (int i = 0; i < times; i++) {
      latency.record(latencyNs);
    }
  }
}
