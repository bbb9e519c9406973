// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.report.Comparison;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.git.Commit;

/**
 * Runs two commits in turn, in pairs; each pair begins with the other commit. Confined to one
 * thread.
 */
final class CommitPairs {
  private final CommitBenchmark benchmark;
  private final Commit base;
  private final Commit head;
  private final Consumer<String> progress;

  CommitPairs(CommitBenchmark benchmark, Commit base, Commit head, Consumer<String> progress) {
    this.benchmark = benchmark;
    this.base = base;
    this.head = head;
    this.progress = progress;
  }

  /** Builds both commits and runs this number of pairs. The comparison's first report is base. */
  Comparison run(int pairs) throws LaunchException, IOException, InterruptedException {
    for (Commit commit : List.of(base, head)) {
      progress.accept("building " + commit);
      benchmark.build(commit);
    }
    List<BenchmarkReport> baseReports = new ArrayList<>();
    List<BenchmarkReport> headReports = new ArrayList<>();
    for (int pair = 1; pair <= pairs; pair++) {
      boolean baseFirst = pair % 2 == 1;
      for (boolean ofBase : new boolean[] {baseFirst, !baseFirst}) {
        Commit commit = ofBase ? base : head;
        progress.accept("pair %d of %d: %s".formatted(pair, pairs, commit));
        (ofBase ? baseReports : headReports).add(benchmark.run(commit));
      }
    }
    return new Comparison(BenchmarkReport.merge(baseReports), BenchmarkReport.merge(headReports));
  }
}
