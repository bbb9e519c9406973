// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.git.Commit;

/**
 * Ratios of two commits that ran in turn. Pair N has the Nth run of each.
 *
 * @param base ratios of each run of the first commit
 * @param head likewise, of the second one
 */
record CommitPairs(List<List<MeasuredRatio>> base, List<List<MeasuredRatio>> head) {
  /** Builds both commits and runs this number of pairs. Each pair begins with the other commit. */
  static CommitPairs run(
      CommitBenchmark benchmark, Commit base, Commit head, int pairs, Consumer<String> progress)
      throws LaunchException, IOException, InterruptedException {
    for (Commit commit : List.of(base, head)) {
      progress.accept("building " + commit);
      benchmark.build(commit);
    }
    CommitPairs result = new CommitPairs(new ArrayList<>(), new ArrayList<>());
    for (int pair = 1; pair <= pairs; pair++) {
      boolean baseFirst = pair % 2 == 1;
      for (boolean ofBase : new boolean[] {baseFirst, !baseFirst}) {
        Commit commit = ofBase ? base : head;
        progress.accept("pair %d of %d: %s".formatted(pair, pairs, commit));
        (ofBase ? result.base : result.head).add(benchmark.run(commit));
      }
    }
    return result;
  }

  /** The change of each ratio that both commits have in at least {@code minPairs} pairs. */
  List<PairedChange> changes(int minPairs) {
    List<PairedChange> changes = new ArrayList<>();
    for (MeasuredRatio ratio : base.get(0)) {
      List<Double> before = new ArrayList<>();
      List<Double> after = new ArrayList<>();
      for (int pair = 0; pair < base.size(); pair++) {
        double one = value(ratio, base.get(pair));
        double other = value(ratio, head.get(pair));
        if (!Double.isNaN(one) && !Double.isNaN(other)) {
          before.add(one);
          after.add(other);
        }
      }
      if (before.size() >= minPairs) {
        changes.add(PairedChange.of(ratio, before, after));
      }
    }
    return changes;
  }

  private static double value(MeasuredRatio wanted, List<MeasuredRatio> run) {
    return run.stream()
        .filter(wanted::isSameQuantity)
        .mapToDouble(MeasuredRatio::value)
        .findFirst()
        .orElse(Double.NaN);
  }
}
