// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.launch.Quartiles;

class CaseReportTest {
  private static final List<ShuffleMode> MODES = List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA);

  @Test
  void shouldCompareRunsOfTheSameRound() {
    CaseReport report =
        CaseReport.of(
            "2x2x4k",
            MODES,
            List.of(
                run(ShuffleMode.VANILLA, 1, 10, 4),
                run(ShuffleMode.RDMA, 1, 5, 1),
                run(ShuffleMode.RDMA, 2, 30, 2),
                run(ShuffleMode.VANILLA, 2, 20, 4)));

    CaseReport.Summary rdma = report.summaries().get(1);
    assertThat(rdma.values().get(Metric.WALL)).isEqualTo(new Quartiles(17.5, 11.25, 23.75));
    assertThat(rdma.ratios().get(Metric.WALL)).isEqualTo(new Quartiles(1.0, 0.75, 1.25));
    assertThat(rdma.ratios().get(Metric.FETCH_WAIT).median()).isEqualTo(0.375);
    assertThat(report.summaries().get(0).ratios()).isEmpty();
  }

  @Test
  void shouldGiveNoRatioToNothing() {
    CaseReport report =
        CaseReport.of(
            "2x2x4k",
            MODES,
            List.of(run(ShuffleMode.VANILLA, 1, 10, 0), run(ShuffleMode.RDMA, 1, 5, 1)));

    assertThat(report.summaries().get(1).ratios()).doesNotContainKey(Metric.FETCH_WAIT);
  }

  @Test
  void shouldShowBytesAndFallbacksOfAllRounds() {
    Map<String, Long> some = Map.of("pool-empty", 3L);
    String table = BenchmarkTable.of(BenchmarkReports.of(3, rounds(some, some, Map.of())));
    assertThat(table)
        .contains("6 blocks (pool-empty)")
        .contains("1 MiB")
        .doesNotContain("4 MiB")
        .endsWith("fallbacks are sums of them.");
    assertThat(BenchmarkTable.of(BenchmarkReports.of(1, rounds(some))))
        .endsWith("  3 blocks (pool-empty)")
        .doesNotContain("sums of them");
  }

  /** Rounds of the plug-in with these fallbacks; in the first it reads 4 MiB, then 1 MiB. */
  @SafeVarargs
  private static CaseReport rounds(Map<String, Long>... fallbacks) {
    List<RunResult> runs = new ArrayList<>();
    for (int round = 1; round <= fallbacks.length; round++) {
      runs.add(run(ShuffleMode.VANILLA, round, 10, 1));
      runs.add(
          BenchmarkReports.run(
              ShuffleMode.RDMA, round, 10, 1, fallbacks[round - 1], (round == 1 ? 4 : 1) << 20));
    }
    return CaseReport.of("2x2x4k", MODES, runs);
  }

  @Test
  void shouldBeTheSameWhenReadBackFromJson() throws Exception {
    BenchmarkReport report =
        BenchmarkReports.of(
            1,
            CaseReport.of(
                "2x2x4k",
                MODES,
                List.of(run(ShuffleMode.VANILLA, 1, 10, 2), run(ShuffleMode.RDMA, 1, 5, 1))));
    ObjectMapper json = new ObjectMapper();

    String text = json.writeValueAsString(report);

    assertThat(json.readValue(text, BenchmarkReport.class)).isEqualTo(report);
  }

  private static RunResult run(ShuffleMode mode, int round, double seconds, double fetchWait) {
    return BenchmarkReports.run(mode, round, seconds, fetchWait, Map.of());
  }
}
