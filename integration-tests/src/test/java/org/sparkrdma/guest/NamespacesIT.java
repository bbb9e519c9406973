// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Soft devices with {@code rdma system set netns exclusive}: the kernel moves none into another
 * network namespace, and one that is made there belongs to the first. The cell {@code iwarp-jumbo}
 * of the guest matrix has an executor in a namespace of its own with shared devices.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class NamespacesIT {
  private static final String DOCTOR =
      GuestJdk.home()
          + "/bin/java "
          + GuestJdk.START_SOON
          + " -jar "
          + Build.property("it.plugin.jar")
          + " doctor -v";

  @Test
  void shouldFindNoSoftDeviceInAnotherNamespaceBecauseTheKernelMovesNone() throws Exception {
    GuestResult result =
        GuestTests.guest("both", Duration.ofSeconds(150))
            .bash(
                "rdma system set netns exclusive && rdma system && ip netns add other; "
                    + "for device in rxe0 siw0; do rdma dev set $device netns other 2>&1; echo move $?; done; "
                    + "ip link set wire2 netns other; ip -n other link set wire2 up; "
                    + "while [[ -e /sys/class/infiniband/siw0 ]]; do sleep 0.1; done; "
                    + "ip netns exec other rdma link add siw7 type siw netdev wire2; echo add $?; "
                    + "echo first: $(ls /sys/class/infiniband); "
                    + "echo other: $(ip netns exec other ls /sys/class/infiniband); "
                    + ("ip netns exec other " + DOCTOR + "; echo doctor $?"));

    List<String> lines = result.node(1).lines();
    lines.forEach(System.out::println);
    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(lines.get(0)).startsWith("netns exclusive");
    assertThat(lines.stream().filter(line -> line.contains("Operation not supported")).count())
        .as("refused moves")
        .isEqualTo(2);
    assertThat(lines)
        .doesNotContain("move 0")
        .contains("add 0", "first: rxe0 siw7", "other:", "doctor 1")
        .anyMatch(line -> line.contains("no RDMA device: the kernel lists none"))
        .anyMatch(line -> line.contains("rdma dev set DEVICE netns NAME"));
  }
}
