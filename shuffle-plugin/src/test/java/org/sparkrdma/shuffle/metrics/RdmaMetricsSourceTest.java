/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RdmaMetricsSourceTest {
  private final ShuffleCounters counters = new ShuffleCounters();
  private final RdmaMetricsSource source = new RdmaMetricsSource(counters);

  @Test
  void shouldShowEveryCounterAndEveryReason() {
    assertThat(source.metricRegistry().getGauges())
        .hasSize(Counter.values().length + FallbackReason.values().length)
        .containsKeys("bytes.read", "tcp.bytes.read", "fallback.peer-busy");
    assertThat(source.sourceName()).isEqualTo("rdma");
  }

  @Test
  void shouldShowWhatIsCountedNow() {
    counters.add(Counter.RDMA_BYTES_READ, 7);
    counters.fellBack(FallbackReason.PEER_BUSY);
    var gauges = source.metricRegistry().getGauges();
    assertThat(gauges.get("bytes.read").getValue()).isEqualTo(7L);
    assertThat(gauges.get("fallback.peer-busy").getValue()).isEqualTo(1L);
  }
}
