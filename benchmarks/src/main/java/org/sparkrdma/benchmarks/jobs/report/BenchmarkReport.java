// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.environment.Environment;
import org.sparkrdma.benchmarks.jobs.plan.BenchmarkPlan;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;

/** Content of a benchmark's JSON file. */
public record BenchmarkReport(BenchmarkPlan plan, Environment environment, List<CaseReport> cases) {
  /** False for a JSON file of another kind, in which parts are missing. */
  @JsonIgnore
  public boolean isComplete() {
    return environment != null
        && plan != null
        && plan.job() != null
        && plan.modes() != null
        && !plan.modes().isEmpty()
        && cases != null
        && cases.stream().allMatch(each -> each != null && each.isComplete());
  }

  /** Settings of one shuffle, as the report has them. */
  Map<String, String> shuffleSettings(ShuffleMode mode) {
    Map<String, String> recorded = environment.shuffleSettings().get(mode.toString());
    return recorded == null ? mode.conf() : recorded;
  }

  /** The same without the directory of the data, which is one of this run alone. */
  public BenchmarkReport withoutData() {
    return new BenchmarkReport(plan.withData(""), environment, cases);
  }

  /**
   * One report with the runs of all. Their rounds are numbered in the order of the reports.
   *
   * @param reports at least one; of the same plan with one round
   */
  public static BenchmarkReport merge(List<BenchmarkReport> reports) {
    BenchmarkReport first = reports.get(0);
    List<CaseReport> cases = new ArrayList<>();
    for (int shape = 0; shape < first.cases().size(); shape++) {
      List<RunResult> runs = new ArrayList<>();
      for (int round = 1; round <= reports.size(); round++) {
        for (RunResult run : reports.get(round - 1).cases().get(shape).runs()) {
          runs.add(run.withRound(round));
        }
      }
      CaseReport one = first.cases().get(shape);
      cases.add(CaseReport.of(one.shape(), one.description(), first.plan().modes(), runs));
    }
    return new BenchmarkReport(first.plan().withRounds(reports.size()), first.environment(), cases);
  }
}
