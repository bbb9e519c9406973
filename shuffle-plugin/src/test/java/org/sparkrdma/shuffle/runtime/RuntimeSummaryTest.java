// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

class RuntimeSummaryTest {
  private final ShuffleCounters counters = new ShuffleCounters();

  @Test
  void shouldNameBytesByPathFallbacksAndTheMaximumOfPinnedMemory() {
    counters.add(Counter.RDMA_BYTES_READ, 4_096);
    counters.increment(Counter.RDMA_BLOCKS_READ);
    counters.add(Counter.BYTES_FROM_SLOTS, 512);
    counters.add(Counter.TCP_BYTES_READ, 7);
    counters.increment(Counter.TCP_BLOCKS_READ);
    counters.fellBack(FallbackReason.TIMEOUT);
    PinnedBudget budget = new PinnedBudget(1 << 20, 4_096);
    budget.tryGrant(8_192).orElseThrow().close();

    assertThat(RuntimeSummary.of(counters, Optional.of(budget)))
        .isEqualTo(
            "readBytes=4096 readBlocks=1 copiedBytes=512 tcpBytes=7 tcpBlocks=1"
                + " fallbacks={timeout=1} highestPinnedBytes=8192 of 1048576");
  }

  @Test
  void shouldNameNoPinnedMemoryWithoutRdma() {
    assertThat(RuntimeSummary.of(counters, Optional.empty()))
        .endsWith("tcpBlocks=0 fallbacks={} highestPinnedBytes=0 of 0");
  }
}
