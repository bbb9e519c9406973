// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrendTest {
  @Test
  void shouldBeFlatWhenOnlySomeSamplesStandOut() {
    List<Double> values = values(i -> i % 10 == 9 ? 900 : 200);
    assertThat(Trend.of(Measure.DESCRIPTORS, values))
        .isEqualTo(new Trend(Measure.DESCRIPTORS, 200, 200, 20))
        .matches(Trend::isFlat);
  }

  @Test
  void shouldGrowWhenEverySampleHasALittleMore() {
    assertThat(Trend.of(Measure.DESCRIPTORS, values(i -> 200 + i)))
        .matches(trend -> !trend.isFlat());
  }

  @Test
  void shouldAllowAFewUnitsWhereATenthIsLess() {
    Trend trend = Trend.of(Measure.THREADS, values(i -> i < 45 ? 20 : 26));
    assertThat(trend).isEqualTo(new Trend(Measure.THREADS, 20, 26, 6)).matches(Trend::isFlat);
    assertThat(Trend.of(Measure.THREADS, values(i -> i < 45 ? 20 : 27)))
        .matches(one -> !one.isFlat());
  }

  @Test
  void shouldBeFlatWhenItBecomesLess() {
    assertThat(Trend.of(Measure.NATIVE_MIB, values(i -> 300 - i))).matches(Trend::isFlat);
  }

  @Test
  void shouldNotJudgeSparksStorageThreads() {
    assertThat(Trend.of(Measure.STORAGE_THREADS, values(i -> i)))
        .matches(Trend::isFlat)
        .extracting(Trend::first, Trend::last)
        .containsExactly(14.5, 74.5);
  }

  private static List<Double> values(IntToDoubleFunction value) {
    return IntStream.range(0, 90).mapToDouble(value).boxed().toList();
  }
}
