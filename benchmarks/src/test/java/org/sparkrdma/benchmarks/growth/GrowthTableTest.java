// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class GrowthTableTest {
  private static final Growth GROWTH = GrowthReports.report().results();

  @Test
  void shouldPrintTheLastIntervalBesideTheFit() {
    assertThat(GrowthTable.rows(GROWTH).get(0))
        .containsExactly(
            "of one executor",
            "exponent fitted to all N",
            "exponent from N = 1,000 to 2,000",
            "N = 10",
            "N = 1,000",
            "N = 2,000");
    assertThat(GrowthTable.rows(GROWTH).get(1))
        .containsExactly("connections", "0.97", "0.04", "9", "999", "1,024");
    assertThat(GrowthTable.rows(GROWTH).get(3))
        .containsExactly("ms to the first block", "0.07", "0.47", "0.33", "0.36", "0.50");
  }

  @Test
  void shouldPrintTheMessagesOfEachType() {
    assertThat(GrowthTable.messages(GROWTH))
        .containsExactly(
            List.of("message", "N = 10", "N = 1,000", "N = 2,000"),
            List.of("CONFIRM", "9", "999", "1,024"),
            List.of("LOCATE", "40", "4,000", "8,000"));
  }

  @Test
  void shouldPrintNoSignOfAZero() {
    assertThat(GrowthTable.exponent(-0.001)).isEqualTo("0.00");
    assertThat(GrowthTable.exponent(-0.006)).isEqualTo("-0.01");
  }

  @Test
  void shouldDescribeIncastAndWaves() {
    assertThat(GrowthTable.of(GROWTH))
        .contains(
            "1000 servers, 64 tasks, pinned.max 1024 MiB: at most 32.0 MiB of READs in flight,"
                + " 320.4 ms for 199600 blocks of 64 KiB, fallbacks {POOL_EMPTY=7608}")
        .contains(
            "500 executors, 10,000 x 10,000 blocks of 64 KiB, 5 waves of 4 tasks",
            "0.025 messages and 0.104 steps for each block");
  }

  @Test
  void shouldWriteALineForEachShuffle() {
    assertThat(GrowthCsv.of(GROWTH).lines())
        .hasSize(6)
        .contains(
            "run,executors,maps,tasks,block bytes,pinned.max,connections,highest pinned bytes,"
                + "ms to the first block,ms to all blocks,fallbacks,fallbacks of others",
            "growth,10,10000,4,65536,1073741824,9.000,958468096.000,0.330,320.400,7608,0");
  }
}
