// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The chart's points: their number, distance and order. */
class TimeSeriesTest {
  private final TimeSeries series = new TimeSeries();

  @Test
  void shouldTakeAPointEachSecondUntilItIsFull() {
    fill(TimeSeries.MAX_POINTS);
    assertThat(times()).hasSize(TimeSeries.MAX_POINTS).startsWith(0L, 1_000L, 2_000L);
    assertThat(series.isDue(TimeSeries.MAX_POINTS * 1_000L - 1)).isFalse();
    assertThat(series.isDue(TimeSeries.MAX_POINTS * 1_000L)).isTrue();
  }

  @Test
  void shouldHalveThePointsAndDoubleTheirDistanceWhenItIsFull() {
    fill(TimeSeries.MAX_POINTS + 1);
    assertThat(times())
        .hasSize(TimeSeries.MAX_POINTS / 2 + 1)
        .startsWith(0L, 2_000L, 4_000L)
        .endsWith(TimeSeries.MAX_POINTS * 1_000L);
    long lastMs = TimeSeries.MAX_POINTS * 1_000L;
    assertThat(series.isDue(lastMs + 1_999)).isFalse();
    assertThat(series.isDue(lastMs + 2_000)).isTrue();
  }

  @Test
  void shouldKeepTheFirstPointTheOrderAndTheDistanceInALongApplication() {
    Random random = new Random(7);
    long nowMs = 5_000;
    long bytes = 0;
    long added = 0;
    for (int i = 0; i < 200_000; i++) {
      nowMs += random.nextInt(3_000);
      bytes += random.nextInt(1_000);
      if (series.isDue(nowMs)) {
        series.add(nowMs, new BytesByPath(bytes, bytes / 2, bytes / 3, bytes / 4));
        added = nowMs;
      }
    }
    List<Long> times = times();
    assertThat(times)
        .hasSizeLessThanOrEqualTo(TimeSeries.MAX_POINTS)
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(times.get(0)).isLessThan(8_000);
    assertThat(times).last().isEqualTo(added);
    assertThat(series.points()).extracting(point -> point.bytes().read()).isSorted();
    long shortest = Long.MAX_VALUE;
    long longest = 0;
    for (int i = 1; i < times.size(); i++) {
      shortest = Math.min(shortest, times.get(i) - times.get(i - 1));
      longest = Math.max(longest, times.get(i) - times.get(i - 1));
    }
    assertThat(longest).isLessThan(4 * shortest);
  }

  @Test
  void shouldBeTheSameAfterItWasStored() {
    fill(10);
    TimeSeries read = TimeSeries.ofList(series.toList());
    assertThat(read.points()).isEqualTo(series.points());
    assertThat(read.toList()).isEqualTo(series.toList());
  }

  @Test
  void shouldIgnoreStoredPointsThatAreNone() {
    List<Object> stored = new ArrayList<>();
    stored.add("text");
    stored.add(null);
    stored.add(List.of(1L, 2L));
    stored.add(List.of(1L, 2, 3L, 4, 5L, "a later field"));
    stored.add(Arrays.asList(6L, null, "7", 8L, 9L));
    List<TimeSeries.Point> points = TimeSeries.ofList(stored).points();
    assertThat(points).first().isEqualTo(new TimeSeries.Point(1, new BytesByPath(2, 3, 4, 5)));
    assertThat(points).last().isEqualTo(new TimeSeries.Point(6, new BytesByPath(0, 0, 8, 9)));
    assertThat(points).hasSize(2);
    assertThat(TimeSeries.ofList("text").points()).isEmpty();
    assertThat(TimeSeries.ofList(null).points()).isEmpty();
  }

  private void fill(int seconds) {
    for (long second = 0; second < seconds; second++) {
      assertThat(series.isDue(second * 1_000)).isTrue();
      series.add(second * 1_000, new BytesByPath(second, 0, 0, 0));
    }
  }

  private List<Long> times() {
    return series.points().stream().map(TimeSeries.Point::timeMs).toList();
  }
}
