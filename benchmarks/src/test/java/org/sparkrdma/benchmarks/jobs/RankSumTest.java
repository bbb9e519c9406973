// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.benchmarks.jobs.RatioChange.RankSum;
import org.sparkrdma.benchmarks.jobs.RatioChange.Verdict;

@Timeout(60)
class RankSumTest {
  private static final Offset<Double> EXACT = Offset.offset(1e-12);
  private static final int TRIALS = 4_000;
  private static final double NOISE = 0.17;

  private final Random random = new Random(20261123);

  @Test
  void shouldCountTheOrdersThatAreAtLeastAsFarApart() {
    RankSum apart = RankSum.of(List.of(1., 2., 3., 4., 5.), List.of(6., 7., 8., 9., 10.));
    assertThat(apart.chance()).isCloseTo(2 / 252.0, EXACT);
    assertThat(apart.secondIsHigher()).isTrue();
    assertThat(apart.chance()).isEqualTo(RankSum.smallestChance(5, 5));

    // Two of the 20 pairs are in the other order: 4 of the 126 orders, and as many mirrored.
    RankSum mixed = RankSum.of(List.of(4., 7., 8., 9.), List.of(1., 2., 3., 5., 6.));
    assertThat(mixed.chance()).isCloseTo(8 / 126.0, EXACT);
    assertThat(mixed.secondIsHigher()).isFalse();
  }

  /** All choices of two from 1, 1, 1 and 2 have the mean rank or are as far from it. */
  @Test
  void shouldShareTheRanksOfEqualValues() {
    assertThat(RankSum.of(List.of(1., 1.), List.of(1., 2.)).chance()).isCloseTo(1, EXACT);
    assertThat(RankSum.of(List.of(3., 3.), List.of(3., 3., 3.)).chance()).isCloseTo(1, EXACT);
    // One of the six choices of two from 1, 1, 2 and 2, and its mirror image.
    assertThat(RankSum.of(List.of(1., 1.), List.of(2., 2.)).chance()).isCloseTo(2 / 6.0, EXACT);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 7, 9})
  void shouldCallAtMostOneOfAHundredRatiosOfEqualSystemsChanged(int rounds) {
    assertThat(changed(rounds, 1)).isLessThan(TRIALS * 3L / 200);
  }

  @Test
  void shouldFindAChangeThatIsLargeForTheNoise() {
    // Three standard deviations of a round.
    assertThat(changed(9, Math.exp(3 * NOISE))).isGreaterThan(TRIALS * 9L / 10);
  }

  private long changed(int rounds, double factor) {
    long changed = 0;
    for (int i = 0; i < TRIALS; i++) {
      Verdict verdict = Verdict.of(rounds(rounds, 1), rounds(rounds, factor), true);
      changed += verdict == Verdict.WORSE || verdict == Verdict.BETTER ? 1 : 0;
    }
    return changed;
  }

  /** Ratios of a median, with the noise of a recorded run. */
  private List<Double> rounds(int rounds, double median) {
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < rounds; i++) {
      values.add(median * Math.exp(NOISE * random.nextGaussian()));
    }
    return values;
  }
}
