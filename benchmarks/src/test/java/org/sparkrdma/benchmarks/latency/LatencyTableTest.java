// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.transfer.Spread;

class LatencyTableTest {
  @Test
  void shouldJudgeBothPercentilesOfOneBlockAndTheBytesOfEachBlock() {
    assertThat(LatencyTable.of(List.of(of(4096, 1, 0.3, 0.5, 900))))
        .contains("RDMA B/block")
        .containsPattern(" 900 \\(900..900\\)\n")
        .endsWith(
            """
            p50 ratio of one block of 4k: 0.30, goal at most 0.33: reached
            p99 ratio of one block of 4k: 0.50, goal at most 0.33: not reached
            bytes allocated for each block of 4k, batch of 1: 900, goal at most 200: not reached
            """);
  }

  @Test
  void shouldJudgeTheBytesOfSeveralBlocksAndNoTimeOfThem() {
    assertThat(LatencyTable.of(List.of(of(4096, 128, 0.1, 0.1, 200))))
        .contains("batch of 128: 200, goal at most 200: reached\n")
        .doesNotContain("p50 ratio of one block");
    assertThat(LatencyTable.of(List.of(of(65536, 1, 0.1, 0.1, 100)))).doesNotContain("goal");
  }

  private static LatencyCase of(int blockBytes, int batch, double p50, double p99, double bytes) {
    return new LatencyCase(
        blockBytes,
        100,
        batch,
        5,
        exactly(p50),
        exactly(p99),
        exactly(30),
        exactly(50),
        exactly(100),
        exactly(100),
        exactly(bytes));
  }

  private static Spread exactly(double value) {
    return new Spread(value, value, value);
  }
}
