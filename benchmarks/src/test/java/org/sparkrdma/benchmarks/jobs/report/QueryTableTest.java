// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;

class QueryTableTest {
  private static final List<ShuffleMode> MODES = List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA);

  @Test
  void shouldCompareTheTimesOfEachQueryInTheSameRound() {
    CaseReport report = report(3, 2.0, 1.0);

    assertThat(QueryTable.isFor(report)).isTrue();
    assertThat(QueryTable.rows(report))
        .containsExactly(
            List.of("query", "vanilla s", "rdma s", "rdma / vanilla"),
            List.of("9", "2.00 (1.50..2.50)", "4.00 (3.00..5.00)", "2.00 (2.00..2.00)"),
            List.of("14a", "20.00 (15.00..25.00)", "20.00 (15.00..25.00)", "1.00 (1.00..1.00)"));
  }

  /**
   * Two queries that take longer in each round.
   *
   * @param first the ratio of the first query to Spark's own shuffle
   * @param second that of the second
   */
  private static CaseReport report(int rounds, double first, double second) {
    List<RunResult> runs = new ArrayList<>();
    for (int round = 1; round <= rounds; round++) {
      runs.add(run(ShuffleMode.VANILLA, round, round, 10 * round));
      runs.add(run(ShuffleMode.RDMA, round, first * round, second * 10 * round));
    }
    return CaseReport.of("1x32xall", MODES, runs);
  }

  private static RunResult run(ShuffleMode mode, int round, double first, double second) {
    Map<String, Double> seconds = new LinkedHashMap<>();
    seconds.put("9", first);
    seconds.put("14a", second);
    return BenchmarkReports.withQueries(
        BenchmarkReports.run(mode, round, first + second, 1, Map.of()), seconds);
  }
}
