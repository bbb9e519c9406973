// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;

class RdmaMetricsSourceTest {
  private final ShuffleCounters counters = new ShuffleCounters();
  private Optional<PinnedBudget> pinned = Optional.empty();
  private final RdmaMetricsSource source = new RdmaMetricsSource(counters, () -> pinned);

  @Test
  void shouldReportPinnedMemoryOpenConnectionsAndLatenciesAsTheyAreNow() {
    assertThat(values("pinned.bytes", "pinned.limit")).as("RDMA is not up").containsExactly(0L, 0L);
    try (PinnedBudget budget = new PinnedBudget(1 << 20, 4_096)) {
      pinned = Optional.of(budget);
      PinnedBudget.Grant grant = budget.tryGrant(5_000).orElseThrow();
      counters.add(Counter.CONNECTIONS_ESTABLISHED, 5);
      counters.add(Counter.CONNECTIONS_CLOSED, 2);
      for (int i = 0; i < 90; i++) {
        counters.readLatency().record(10_000);
      }
      for (int i = 0; i < 10; i++) {
        counters.readLatency().record(100_000);
      }
      assertThat(values("pinned.bytes", "pinned.limit", "connections.open"))
          .containsExactly(8_192L, 1L << 20, 3L);
      assertThat(values("read.latency.p50").get(0)).isBetween(10L, 11L);
      assertThat(values("read.latency.p99").get(0)).isBetween(100L, 102L);
      grant.close();
      assertThat(values("pinned.bytes")).containsExactly(0L);
    }
  }

  private List<Long> values(String... names) {
    var gauges = source.metricRegistry().getGauges();
    return Stream.of(names).map(name -> (Long) gauges.get(name).getValue()).toList();
  }
}
