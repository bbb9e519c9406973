// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.launch.LaunchException;

/**
 * Result of two commits that ran in turn on one machine.
 *
 * @param environment the machine at the start
 * @param changes one for each ratio
 */
record RegressReport(Environment environment, Commit base, Commit head, List<RatioChange> changes) {
  /** Builds both commits and runs this number of pairs. Each pair begins with the other commit. */
  static RegressReport measure(
      CommitBenchmark benchmark, Commit base, Commit head, int pairs, Consumer<String> progress)
      throws LaunchException, IOException, InterruptedException {
    Environment environment = Environment.now();
    for (Commit commit : List.of(base, head)) {
      progress.accept("building " + commit);
      benchmark.build(commit);
    }
    List<MeasuredRatio> ofBase = new ArrayList<>();
    List<MeasuredRatio> ofHead = new ArrayList<>();
    for (int pair = 1; pair <= pairs; pair++) {
      boolean baseFirst = pair % 2 == 1;
      for (boolean isBase : new boolean[] {baseFirst, !baseFirst}) {
        Commit commit = isBase ? base : head;
        progress.accept("pair %d of %d: %s".formatted(pair, pairs, commit));
        (isBase ? ofBase : ofHead).addAll(benchmark.run(commit));
      }
    }
    return new RegressReport(environment, base, head, RatioChange.of(ofBase, ofHead));
  }

  /** Number of ratios that are worse. */
  long worse() {
    return changes.stream().filter(change -> change.verdict() == Verdict.WORSE).count();
  }
}
