// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkReport;
import org.sparkrdma.benchmarks.jobs.report.BenchmarkReports;
import org.sparkrdma.benchmarks.jobs.report.CaseReport;
import org.sparkrdma.benchmarks.jobs.report.Comparison;
import org.sparkrdma.benchmarks.jobs.report.Metric;
import org.sparkrdma.benchmarks.jobs.report.RunResult;
import org.sparkrdma.benchmarks.jobs.report.Verdict;
import org.sparkrdma.launch.git.Commit;

@Timeout(60)
class PairedChangeTest {
  private static final int PAIRS = 9;
  private static final int TRIALS = 1_000;
  private static final double NOISE = 0.08;

  private final Random random = new Random(20261122);
  private final List<String> order = new ArrayList<>();

  @Test
  void shouldCallFewRatiosOfEqualCommitsChanged() throws Exception {
    assertThat(verdicts(1, Verdict.WITHIN_SPREAD)).isGreaterThan(TRIALS * 95L / 100);
  }

  @Test
  void shouldFindMostChangesOfAFifth() throws Exception {
    assertThat(verdicts(1.2, Verdict.WORSE)).isGreaterThan(TRIALS * 85L / 100);
    assertThat(verdicts(1 / 1.2, Verdict.BETTER)).isGreaterThan(TRIALS * 85L / 100);
  }

  @Test
  void shouldBeginEachPairWithTheOtherCommit() throws Exception {
    wallOfRun(2, 1);
    assertThat(order).containsExactly("build base", "build head", "base", "head", "head", "base");
  }

  @Test
  void shouldNotJudgeARatioWithTooFewPairs() throws Exception {
    assertThat(PairedChange.of(compare(4, 1), 5)).isEmpty();
    assertThat(PairedChange.of(compare(5, 1), 5)).isNotEmpty();
  }

  @Test
  void shouldNumberTheRoundsOfMergedReports() throws Exception {
    BenchmarkReport merged = compare(3, 1).first();
    assertThat(merged.plan().rounds()).isEqualTo(3);
    assertThat(merged.cases().get(0).runs(ShuffleMode.RDMA))
        .extracting(RunResult::round)
        .containsExactly(1, 2, 3);
  }

  private long verdicts(double factor, Verdict wanted) throws Exception {
    long found = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      found += wallOfRun(PAIRS, factor).verdict() == wanted ? 1 : 0;
    }
    return found;
  }

  private PairedChange wallOfRun(int pairs, double factor) throws Exception {
    return PairedChange.of(compare(pairs, factor), 1).stream()
        .filter(change -> change.metric() == Metric.WALL)
        .findFirst()
        .orElseThrow();
  }

  /** Runs of two commits; the plug-in takes {@code factor} times as long in the second. */
  private Comparison compare(int pairs, double factor) throws Exception {
    Commit base = new Commit("base", "b".repeat(40), "");
    Commit head = new Commit("head", "a".repeat(40), "");
    order.clear();
    CommitBenchmark benchmark =
        new CommitBenchmark() {
          @Override
          public void build(Commit commit) {
            order.add("build " + commit.name());
          }

          @Override
          public BenchmarkReport run(Commit commit) {
            order.add(commit.name());
            return report(
                (commit.equals(head) ? factor : 1) * Math.exp(NOISE * random.nextGaussian()));
          }
        };
    return new CommitPairs(benchmark, base, head, step -> {}).run(pairs);
  }

  static BenchmarkReport report(double ratio) {
    return BenchmarkReports.of(
        1,
        CaseReport.of(
            "2x2x4k",
            "4 blocks",
            List.of(ShuffleMode.VANILLA, ShuffleMode.RDMA),
            List.of(
                BenchmarkReports.run(ShuffleMode.VANILLA, 1, 10, 2, Map.of()),
                BenchmarkReports.run(ShuffleMode.RDMA, 1, 10 * ratio, 1, Map.of()))));
  }
}
