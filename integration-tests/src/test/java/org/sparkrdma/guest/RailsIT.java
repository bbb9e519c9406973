// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/** Hosts with two RDMA devices: no block uses TCP, whether the devices share a subnet or not. */
@Isolated("It takes both processors.")
@Timeout(300)
final class RailsIT {
  private static final String DEVICE = "RDMA uses device %s port 1 of engine ibverbs";

  @Test
  void shouldShuffleByReadOnTwoSubnetsAndOverTwoDevicesOfOneSubnet() throws Exception {
    ClusterRun cluster = ClusterRun.named("rails").with("--rails", "2");

    Map<String, StepResult> steps = cluster.run("rocev2-two-subnets", "rocev2-one-subnet");

    String logs = cluster.executorLogs(1) + cluster.executorLogs(2);
    assertAllByRead(steps.get("rocev2-two-subnets/blocks"));
    assertAllByRead(steps.get("rocev2-one-subnet/blocks"));
    // On two subnets both executors use the lower one. On one subnet the devices are spread, so
    // that each connection joins rxe0 of one kernel and rxe1 of the other.
    assertThat(count(logs, DEVICE.formatted("rxe0"))).as(logs).isEqualTo(3);
    assertThat(count(logs, DEVICE.formatted("rxe1"))).as(logs).isEqualTo(1);
  }

  private static void assertAllByRead(StepResult step) {
    assertThat(step.right()).as("%s", step).isTrue();
    assertThat(step.rdmaBytes()).as("%s", step).isPositive().isEqualTo(step.remoteBytesRead());
    assertThat(step.tcpBytes()).as("%s", step).isZero();
    assertThat(step.fallbacks()).as("%s", step).isEmpty();
  }

  private static long count(String text, String part) {
    return Pattern.compile(part, Pattern.LITERAL).matcher(text).results().count();
  }
}
