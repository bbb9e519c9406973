// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;

/** Reports for tests. Stateless. */
public final class BenchmarkReports {
  private BenchmarkReports() {}

  private static BenchmarkReport of(int rounds, CaseReport... cases) {
    return new BenchmarkReport(
        new BenchmarkPlan(
            ShuffleJob.GROUPBY,
            Arrays.stream(cases).map(CaseReport::shape).toList(),
            List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA),
            rounds,
            5,
            1,
            "",
            false,
            Map.of()),
        Environment.now(),
        List.of(cases));
  }

  /** Rounds of one case, each with a time of vanilla and one of the plug-in. */
  public static BenchmarkReport pairs(double... seconds) {
    List<RunResult> runs = new ArrayList<>();
    for (int i = 0; i < seconds.length; i += 2) {
      runs.add(run(ShuffleMode.VANILLA, i / 2 + 1, seconds[i], 2));
      runs.add(run(ShuffleMode.RDMA, i / 2 + 1, seconds[i + 1], 1));
    }
    return of(
        seconds.length / 2,
        CaseReport.of("2x2x4k", List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA), runs));
  }

  public static RunResult run(
      ShuffleMode mode, int round, double seconds, double fetchWaitSeconds) {
    return new RunResult(
        mode,
        round,
        2,
        seconds,
        fetchWaitSeconds,
        3.5,
        0.25,
        500L << 20,
        new RunResult.ByPath(1 << 20, 0, 1 << 20),
        new RunResult.ByPath(256, 0, 256),
        Map.of(),
        new ComputedAnswer.Answer(16, "ab"),
        Map.of(),
        null);
  }
}
