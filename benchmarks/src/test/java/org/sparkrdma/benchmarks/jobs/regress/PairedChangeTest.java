// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
    assertThat(verdicts(1, true, Verdict.WITHIN_SPREAD)).isGreaterThan(TRIALS * 95L / 100);
  }

  @Test
  void shouldFindMostChangesOfAFifth() throws Exception {
    assertThat(verdicts(1.2, true, Verdict.WORSE)).isGreaterThan(TRIALS * 85L / 100);
    assertThat(verdicts(1 / 1.2, true, Verdict.BETTER)).isGreaterThan(TRIALS * 85L / 100);
  }

  @Test
  void shouldCallALowerThroughputWorse() throws Exception {
    assertThat(verdicts(1 / 1.2, false, Verdict.WORSE)).isGreaterThan(TRIALS * 85L / 100);
    assertThat(verdicts(1.2, false, Verdict.BETTER)).isGreaterThan(TRIALS * 85L / 100);
  }

  @Test
  void shouldBeginEachPairWithTheOtherCommit() throws Exception {
    pairs(2, 1, true);
    assertThat(order).containsExactly("build base", "build head", "base", "head", "head", "base");
  }

  @Test
  void shouldNotJudgeARatioWithTooFewPairs() throws Exception {
    assertThat(pairs(4, 1, true).changes(5)).isEmpty();
    assertThat(pairs(5, 1, true).changes(5)).isNotEmpty();
  }

  private long verdicts(double factor, boolean lessIsBetter, Verdict wanted) throws Exception {
    long found = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
      PairedChange change = pairs(PAIRS, factor, lessIsBetter).changes(1).get(0);
      found += change.verdict() == wanted ? 1 : 0;
    }
    return found;
  }

  /** Runs of two commits; the ratio is {@code factor} times as large in the second. */
  private CommitPairs pairs(int pairs, double factor, boolean lessIsBetter) throws Exception {
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
          public List<MeasuredRatio> run(Commit commit) {
            order.add(commit.name());
            double value =
                (commit.equals(head) ? factor : 1) * Math.exp(NOISE * random.nextGaussian());
            return List.of(
                new MeasuredRatio("2x2x4k", "rdma / vanilla", "wall", lessIsBetter, value));
          }
        };
    return CommitPairs.run(benchmark, base, head, pairs, step -> {});
  }
}
