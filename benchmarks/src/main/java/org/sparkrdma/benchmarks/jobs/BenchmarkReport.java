// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.List;

/** Content of a benchmark's JSON file. */
public record BenchmarkReport(BenchmarkPlan plan, Environment environment, List<CaseReport> cases) {
  /** False for a JSON file of another kind, in which parts are missing. */
  @JsonIgnore
  boolean isComplete() {
    return plan != null
        && plan.job() != null
        && plan.modes() != null
        && !plan.modes().isEmpty()
        && cases != null
        && cases.stream().allMatch(each -> each != null && each.isComplete());
  }

  /** The same without the directory of the data, which is one of this run alone. */
  public BenchmarkReport withoutData() {
    return new BenchmarkReport(plan.withData(""), environment, cases);
  }
}
