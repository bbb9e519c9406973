// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RdmaMetricsSourceTest {
  private final ShuffleCounters counters = new ShuffleCounters();
  private final RdmaMetricsSource source = new RdmaMetricsSource(counters);

  @Test
  void shouldContainEveryCounterAndEveryReason() {
    assertThat(source.metricRegistry().getGauges())
        .hasSize(Counter.values().length + FallbackReason.values().length)
        .containsKeys("bytes.read", "tcp.bytes.read", "fallback.peer-busy");
    assertThat(source.sourceName()).isEqualTo("rdma");
  }

  @Test
  void shouldReportPresentCounts() {
    counters.add(Counter.RDMA_BYTES_READ, 7);
    counters.fellBack(FallbackReason.PEER_BUSY);
    var gauges = source.metricRegistry().getGauges();
    assertThat(gauges.get("bytes.read").getValue()).isEqualTo(7L);
    assertThat(gauges.get("fallback.peer-busy").getValue()).isEqualTo(1L);
  }
}
