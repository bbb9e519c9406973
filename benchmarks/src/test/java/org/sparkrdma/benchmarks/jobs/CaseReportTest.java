// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.Quartiles;

class CaseReportTest {
  private static final List<ShuffleMode> MODES = List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA);

  @Test
  void shouldCompareRunsOfTheSameRound() {
    BenchmarkReport.CaseReport report =
        BenchmarkReport.CaseReport.of(
            "2x2x4k",
            MODES,
            List.of(
                run(ShuffleMode.VANILLA, 1, 10, 4),
                run(ShuffleMode.RDMA, 1, 5, 1),
                run(ShuffleMode.RDMA, 2, 30, 2),
                run(ShuffleMode.VANILLA, 2, 20, 4)));

    BenchmarkReport.CaseReport.Summary rdma = report.summaries().get(1);
    assertThat(rdma.values().get(BenchmarkReport.Metric.WALL))
        .isEqualTo(new Quartiles(17.5, 11.25, 23.75));
    assertThat(rdma.ratios().get(BenchmarkReport.Metric.WALL))
        .isEqualTo(new Quartiles(1.0, 0.75, 1.25));
    assertThat(rdma.ratios().get(BenchmarkReport.Metric.FETCH_WAIT).median()).isEqualTo(0.375);
    assertThat(report.summaries().get(0).ratios()).isEmpty();
  }

  @Test
  void shouldGiveNoRatioToNothing() {
    BenchmarkReport.CaseReport report =
        BenchmarkReport.CaseReport.of(
            "2x2x4k",
            MODES,
            List.of(run(ShuffleMode.VANILLA, 1, 10, 0), run(ShuffleMode.RDMA, 1, 5, 1)));

    assertThat(report.summaries().get(1).ratios())
        .doesNotContainKey(BenchmarkReport.Metric.FETCH_WAIT);
  }

  @Test
  void shouldBeTheSameWhenReadBackFromJson() throws Exception {
    BenchmarkReport report =
        BenchmarkReports.of(
            1,
            BenchmarkReport.CaseReport.of(
                "2x2x4k",
                MODES,
                List.of(run(ShuffleMode.VANILLA, 1, 10, 2), run(ShuffleMode.RDMA, 1, 5, 1))));
    ObjectMapper json = new ObjectMapper();

    String text = json.writeValueAsString(report);

    assertThat(json.readValue(text, BenchmarkReport.class)).isEqualTo(report);
  }

  private static BenchmarkReport.RunResult run(
      ShuffleMode mode, int round, double seconds, double fetchWait) {
    return BenchmarkReports.run(mode, round, seconds, fetchWait, Map.of());
  }
}
