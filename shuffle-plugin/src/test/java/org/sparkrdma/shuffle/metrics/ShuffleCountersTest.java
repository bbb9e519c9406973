// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShuffleCountersTest {
  private final ShuffleCounters counters = new ShuffleCounters();

  /** Counters of waits that are not 0. */
  private List<Counter> counted() {
    return Arrays.stream(Counter.values()).filter(each -> counters.value(each) > 0).toList();
  }

  @ParameterizedTest
  @CsvSource({
    "0, MEMORY_WAITS_5_MS",
    "5, MEMORY_WAITS_5_MS",
    "20, MEMORY_WAITS_20_MS",
    "50, MEMORY_WAITS_50_MS",
    "51, MEMORY_WAITS_100_MS",
    "100, MEMORY_WAITS_100_MS",
    "101, MEMORY_WAITS_LONGER"
  })
  void shouldCountAWaitByItsLength(long milliseconds, Counter counter) {
    counters.waitedForMemory(TimeUnit.MILLISECONDS.toNanos(milliseconds));
    assertThat(counted()).containsExactly(counter);
  }
}
