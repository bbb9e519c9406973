// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.benchmarks.jobs.ShuffleMode.FALLBACK;
import static org.sparkrdma.benchmarks.jobs.ShuffleMode.RDMA;
import static org.sparkrdma.benchmarks.jobs.ShuffleMode.VANILLA;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchmarkPlanTest {
  private static final BenchmarkPlan PLAN =
      new BenchmarkPlan(
          ShuffleJob.GROUPBY,
          List.of("2x2x4k", "4x4x4k"),
          List.of(VANILLA, RDMA, FALLBACK),
          3,
          1,
          "");

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void shouldBeginEachRoundWithAnotherShuffle(int shuffles) {
    List<ShuffleMode> modes = modes(shuffles);
    for (int first = 1; first <= 2 * shuffles; first++) {
      List<ShuffleMode> begins =
          IntStream.range(first, first + shuffles)
              .mapToObj(round -> BenchmarkPlan.order(modes, round).get(0))
              .toList();
      assertThat(begins).as("from round %d on", first).containsExactlyInAnyOrderElementsOf(modes);
    }
  }

  private static List<ShuffleMode> modes(int shuffles) {
    return List.of(ShuffleMode.values()).subList(0, shuffles);
  }

  @Test
  void shouldCountWarmUpsAsRuns() {
    assertThat(PLAN.runs()).isEqualTo(2 * 3 * 3 * 2);
  }
}
