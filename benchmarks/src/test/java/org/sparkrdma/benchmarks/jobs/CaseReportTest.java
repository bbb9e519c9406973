// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.Metric;
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

  private static BenchmarkReport.RunResult run(
      ShuffleMode mode, int round, double seconds, double fetchWait) {
    return BenchmarkReports.run(mode, round, seconds, fetchWait, Map.of());
  }
}
