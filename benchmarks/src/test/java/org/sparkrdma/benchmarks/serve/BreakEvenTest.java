// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BreakEvenTest {
  private final BreakEven costs =
      new BreakEven(
          Map.of(
              1_000, List.of(new CostPair(50, 10)),
              2_000, List.of(new CostPair(50, 40)),
              3_000, List.of(new CostPair(60, 80)),
              4_000, List.of(new CostPair(5, 200))));

  @Test
  void shouldReportThatCopyingAllIsCheaperThanRegistering() {
    assertThat(costs.bytes(1_000)).isEqualTo(1_000);
    assertThat(costs.bytes(2_000)).isEqualTo(2_000);
  }

  @Test
  void shouldFindHowMuchCanBeCopiedForThePriceOfRegistering() {
    assertThat(costs.bytes(3_000)).isEqualTo(2_500);
  }

  @Test
  void shouldFindNothingWhereEveryCopyCostsMore() {
    assertThat(costs.bytes(4_000)).isZero();
  }

  @Test
  void shouldTakeTheMedianOfThePairs() {
    BreakEven noisy =
        new BreakEven(
            Map.of(
                1_000, List.of(new CostPair(1, 9), new CostPair(50, 10), new CostPair(90, 11)),
                2_000, List.of(new CostPair(25, 30), new CostPair(25, 40), new CostPair(25, 900))));
    assertThat(noisy.bytes(2_000)).isEqualTo(1_500);
  }
}
