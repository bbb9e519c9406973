// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.benchmarks.jobs.plan.ShuffleMode.FALLBACK;
import static org.sparkrdma.benchmarks.jobs.plan.ShuffleMode.RDMA;
import static org.sparkrdma.benchmarks.jobs.plan.ShuffleMode.VANILLA;

import java.util.List;
import org.junit.jupiter.api.Test;

class BenchmarkPlanTest {
  private static final BenchmarkPlan PLAN =
      new BenchmarkPlan(
          ShuffleJob.GROUPBY,
          List.of("2x2x4k", "4x4x4k"),
          List.of(VANILLA, RDMA, FALLBACK),
          3,
          1,
          "",
          "");

  @Test
  void shouldBeginEachRoundWithAnotherShuffle() {
    assertThat(PLAN.order(1)).containsExactly(VANILLA, RDMA, FALLBACK);
    assertThat(PLAN.order(2)).containsExactly(RDMA, FALLBACK, VANILLA);
    assertThat(PLAN.order(3)).containsExactly(FALLBACK, VANILLA, RDMA);
  }

  @Test
  void shouldCountWarmUpsAsRuns() {
    assertThat(PLAN.runs()).isEqualTo(2 * 3 * 3 * 2);
  }
}
