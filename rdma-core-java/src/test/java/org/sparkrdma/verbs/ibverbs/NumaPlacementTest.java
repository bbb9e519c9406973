// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NumaPlacementTest {
  private static final int EPERM = 1;
  private static final int EINVAL = 22;

  private final List<String> calls = new ArrayList<>();
  private final List<String> log = new ArrayList<>();

  private NumaPlacement placement(int node, int errno) {
    return new NumaPlacement(
        "mlx5_0",
        node,
        (of, address, lengthBytes) -> {
          calls.add(of + " " + address + " " + lengthBytes);
          return errno;
        },
        log::add);
  }

  @Test
  void shouldPlaceExactlyTheRanges() {
    NumaPlacement placement = placement(1, 0);

    placement.place(4_096, 65_536);
    placement.place(1 << 21, 5);

    assertThat(placement.isWanted()).isTrue();
    assertThat(calls).containsExactly("1 4096 65536", "1 2097152 5");
    assertThat(log).isEmpty();
  }

  @Test
  void shouldReportOnceThatAContainerRefuses() {
    NumaPlacement placement = placement(1, EPERM);

    placement.place(4_096, 65_536);
    placement.place(1 << 21, 5);

    assertThat(calls).hasSize(1);
    assertThat(log)
        .containsExactly(
            "Memory of RDMA device mlx5_0 is not placed on its NUMA node 1, the kernel chooses the"
                + " node: mbind failed: errno=1 (Operation not permitted). Containers need the"
                + " capability SYS_NICE for it");
  }

  @Test
  void shouldReportThatTheNodeMayNotBeUsed() {
    placement(1, EINVAL).place(4_096, 65_536);

    assertThat(log)
        .containsExactly(
            "Memory of RDMA device mlx5_0 is not placed on its NUMA node 1, the kernel chooses the"
                + " node: mbind failed: errno=22 (Invalid argument)");
  }

  @Test
  void shouldLeaveThePlaceToTheKernelWithoutANode() {
    NumaPlacement placement = placement(NumaNode.NONE, 0);

    placement.place(4_096, 65_536);

    assertThat(placement.isWanted()).isFalse();
    assertThat(calls).isEmpty();
  }
}
