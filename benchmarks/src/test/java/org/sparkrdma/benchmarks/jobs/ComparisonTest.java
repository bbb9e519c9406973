// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.benchmarks.jobs.RatioChange.RankSum;
import org.sparkrdma.benchmarks.jobs.RatioChange.Verdict;
import org.sparkrdma.launch.Launcher;

@Timeout(60)
class ComparisonTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldJudgeTheRoundsAndNotTheirQuartiles() throws Exception {
    RatioChange few = change(new double[] {10, 5, 10, 5}, new double[] {10, 9, 10, 8});
    assertThat(few.shape()).isEqualTo("groupby 2x2x4k");
    assertThat(few.ratio()).isEqualTo("rdma / vanilla");
    assertThat(few.verdict()).isEqualTo(Verdict.TOO_FEW_ROUNDS);
    assertThat(RatioChange.table(List.of(few)))
        .containsPattern(
            "wall +0.50 \\(0.50..0.50\\) +0.85 \\(0.83..0.88\\) +1.70 +too few rounds");
    double[] fast = {10, 5, 10, 5.2, 10, 5.1, 10, 5.3, 10, 5.4};
    double[] slow = {10, 9, 10, 8, 10, 8.5, 10, 7, 10, 7.5};
    double[] mixed = {10, 9, 10, 8, 10, 5.25, 10, 7, 10, 7.5};
    assertThat(change(fast, slow).verdict()).isEqualTo(Verdict.WORSE);
    assertThat(change(slow, fast).verdict()).isEqualTo(Verdict.BETTER);
    // The quartiles are apart.
    assertThat(change(fast, mixed).verdict()).isEqualTo(Verdict.WITHIN_SPREAD);
  }

  @Test
  void shouldCountTheOrdersThatAreAtLeastAsFarApart() {
    // Two of the 20 pairs are in the other order: 4 of the 126 orders, and as many mirrored.
    RankSum mixed = RankSum.of(List.of(4., 7., 8., 9.), List.of(1., 2., 3., 5., 6.));
    assertThat(mixed.chance()).isCloseTo(8 / 126.0, within(1e-12));
    assertThat(mixed.secondIsHigher()).isFalse();
    // Equal values share their rank: one of the six choices of two, and its mirror image.
    RankSum equal = RankSum.of(List.of(1., 1.), List.of(2., 2.));
    assertThat(equal.chance()).isCloseTo(2 / 6.0, within(1e-12));
  }

  /** Transfers have three values for each pair, and hundreds of pairs are allowed. */
  @Test
  void shouldJudgeThousandsOfValuesInLittleMemory() {
    Random random = new Random(3);
    List<Double> first = new ArrayList<>();
    List<Double> second = new ArrayList<>();
    List<Double> shifted = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      first.add(random.nextGaussian());
      second.add(random.nextGaussian());
      shifted.add(random.nextGaussian() + 0.2);
    }
    assertThat(RankSum.of(first, second).chance()).isBetween(0.02, 1.0);
    assertThat(RankSum.of(first, shifted).chance()).isLessThan(0.001);
    assertThat(RankSum.of(first, shifted).secondIsHigher()).isTrue();
    assertThat(RankSum.of(Collections.nCopies(300, 1.), Collections.nCopies(300, 1.)).chance())
        .isEqualTo(1);
    for (double shift = 0; shift < 0.6; shift += 0.1) {
      double by = shift;
      List<Double> some = first.subList(0, 90).stream().map(one -> Math.rint(9 * one)).toList();
      List<Double> others =
          second.subList(0, 100).stream().map(one -> Math.rint(9 * (one + by))).toList();
      assertThat(RankSum.approximate(some, others).chance())
          .isCloseTo(RankSum.of(some, others).chance(), within(0.002));
    }
  }

  private static RatioChange change(double[] base, double[] head) throws Exception {
    return RatioChange.of(List.of(ratios(base)), List.of(ratios(head))).get(0);
  }

  private static Map<MeasuredRatio, MeasuredRatio.Values> ratios(double... seconds)
      throws Exception {
    return MeasuredRatio.of(new ObjectMapper().valueToTree(BenchmarkReports.pairs(seconds)));
  }

  @Test
  void shouldRefuseAFileThatIsNoReport() throws Exception {
    Path report = directory.resolve("a.json");
    new ObjectMapper().writeValue(report.toFile(), BenchmarkReports.pairs(10, 5, 10, 5));
    Path other = Files.writeString(directory.resolve("b.json"), "{\"plan\":1}");
    assertThat(compare(report, directory.resolve("none.json"))).isEqualTo(MISUSE);
    assertThat(compare(report, other)).isEqualTo(MISUSE);
    assertThat(compare(report, report)).isZero();
  }

  private static int compare(Path first, Path second) {
    return Launcher.commandLine(CompareCommand.class)
        .execute("--project", "p", "--work-dir", "w", first.toString(), second.toString());
  }
}
