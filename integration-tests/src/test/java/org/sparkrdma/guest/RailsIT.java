// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * Hosts with two RoCE devices that no setting names: no block uses TCP, whether they share a subnet
 * or not. Spark's own address is on an iWARP device, which is not used because the fabric is not
 * trusted. All packets of RDMA have the traffic class that was set.
 */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(600)
final class RailsIT {
  private static final String DEVICE = "RDMA is up: device %s port 1 of engine ibverbs";
  private static final String ROCE = "udp dst port 4791";

  /** The TOS byte of IPv4, as the applications set it: DSCP 26. */
  private static final String MARKED = "ip[1] == 104";

  /**
   * Attribute DREP (0x16) of the connection manager, after the base and datagram transport headers.
   * When both ends disconnect at once, the kernel answers the one by itself, without a traffic
   * class (cm_dreq_handler in drivers/infiniband/core/cm.c).
   */
  private static final String DISCONNECT_ANSWER = "(ip[32:4] & 0xffffff == 1 and ip[64:2] == 0x16)";

  @Test
  void shouldShuffleByMarkedReadsOnTwoSubnetsAndOverTwoDevicesOfOneSubnet() throws Exception {
    Path capture = Path.of(Build.property("it.guest.directory"), "rails.pcap");
    ClusterRun cluster =
        ClusterRun.named("rails").with("--rails", "2").with("--capture", capture.toString());

    Map<String, StepResult> steps = cluster.run("rocev2-two-subnets", "rocev2-one-subnet");

    assertAllByRead(steps.get("rocev2-two-subnets/blocks"));
    assertAllByRead(steps.get("rocev2-one-subnet/blocks"));
    // On two subnets both executors use the lower one. On one subnet the devices are spread, so
    // that each connection joins rxe0 of one kernel and rxe1 of the other.
    String logs = cluster.executorLogs(1) + cluster.executorLogs(2);
    assertThat(count(logs, DEVICE.formatted("rxe0"))).as(logs).isEqualTo(3);
    assertThat(count(logs, DEVICE.formatted("rxe1"))).as(logs).isEqualTo(1);
    // Requests of connections go to queue pair 1, in the base transport header after IP and UDP.
    String request = "ip[32:4] & 0xffffff == 1";
    assertThat(Capture.packets(capture, ROCE + " and " + MARKED + " and " + request)).isPositive();
    for (String node : new String[] {"10.99.1.1", "10.99.1.2"}) {
      assertThat(Capture.packets(capture, ROCE + " and " + MARKED + " and src " + node))
          .isPositive();
    }
    assertThat(
            Capture.packets(capture, ROCE + " and not " + MARKED + " and not " + DISCONNECT_ANSWER))
        .isZero();
  }

  private static long count(String text, String part) {
    return Pattern.compile(part, Pattern.LITERAL).matcher(text).results().count();
  }
}
