// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SideCostTest {
  @Test
  void shouldCountWhatTasksAndPlugInAllocatedWithoutTheDevice() {
    SideCost cost =
        new SideCost(
            0,
            Map.of(
                ThreadRole.TASK, new ThreadCost(0, 10),
                ThreadRole.AGENT, new ThreadCost(0, 20),
                ThreadRole.DELIVERY, new ThreadCost(0, 5),
                ThreadRole.DEVICE, new ThreadCost(0, 1_000),
                ThreadRole.OTHER, new ThreadCost(0, 7)));
    assertThat(cost.fetchBytes()).isEqualTo(35);
    assertThat(cost.allocatedBytes()).isEqualTo(42);
  }
}
