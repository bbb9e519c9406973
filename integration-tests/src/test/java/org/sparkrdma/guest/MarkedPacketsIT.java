// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * All packets of RoCE have the traffic class that was set, those of siw have not; on a cluster
 * whose settings contain only IPv6 addresses, and on hosts with two devices.
 */
@Isolated("It takes both processors.")
@Timeout(600)
final class MarkedPacketsIT {
  private static final long LIMIT_MIB = 1_000;
  private static final long HEAP_MIB = 640;

  /** The heap that Java reports is a little smaller: one survivor space is always empty. */
  private static final long MAX_PINNED_MIB = (LIMIT_MIB - HEAP_MIB) / 2 + 16;

  private static final String ROCE = "udp dst port 4791";

  /** The TOS byte of IPv4 and the traffic class of IPv6, as the applications set it: DSCP 26. */
  private static final String MARKED = "ip[1] == 104";

  private static final String MARKED6 = "ip6[0:2] & 0x0ff0 == 0x680";

  /**
   * Attribute DREP (0x16) of the connection manager, after the base and datagram transport headers.
   * When both ends disconnect at once, the kernel answers the one by itself, without a traffic
   * class (cm_dreq_handler in drivers/infiniband/core/cm.c).
   */
  private static final String DISCONNECT_ANSWER = "(ip[32:4] & 0xffffff == 1 and ip[64:2] == 0x16)";

  private static final String DISCONNECT_ANSWER6 =
      "(ip6[52:4] & 0xffffff == 1 and ip6[84:2] == 0x16)";

  private static final String DEVICE = "RDMA is up: device %s port 1 of engine ibverbs";

  private static final Pattern PINNED = Pattern.compile("may pin ([0-9]+) MiB: (.*)");

  /** Executors in a control group with less memory than the host. */
  @Test
  void shouldReadOverIpv6AndPinWithinTheContainersLimit() throws Exception {
    Path capture = Path.of(Build.property("it.guest.directory"), "limited.pcap");
    ClusterRun cluster =
        ClusterRun.named("limited")
            .limitedTo(LIMIT_MIB << 20)
            .with("--capture", capture.toString());
    Map<String, StepResult> steps = cluster.run("rocev2-ipv6", "iwarp-ipv6");

    for (String application : new String[] {"rocev2-ipv6", "iwarp-ipv6"}) {
      assertAllByRead(steps.get(application + "/blocks"));
    }
    for (int node = 1; node <= 2; node++) {
      assertThat(cluster.executorLogs(node))
          .contains("device rxe0 port 1 of engine ibverbs at [fd99:1:0:0:0:0:0:" + node + "/")
          .contains("device siw0 port 1 of engine ibverbs at [fd99:2:0:0:0:0:0:" + node + "/");
    }
    List<String> events = cluster.content("memory.events").lines().toList();
    assertThat(events).contains("oom 0", "oom_kill 0");
    assertThat(peakMib(events)).as("of Worker and executor").isBetween(200L, LIMIT_MIB);
    assertThat(pinnedMib(cluster.executorLogs(2)))
        .as("at most half of the limit minus the heap, on each transport")
        .hasSize(2)
        .allSatisfy(mib -> assertThat(mib).isBetween(1L, MAX_PINNED_MIB));
    assertThat(pinnedMib(cluster.executorLogs(1)))
        .as("the same executors without a limit")
        .hasSize(2)
        .allSatisfy(mib -> assertThat(mib).isGreaterThan(MAX_PINNED_MIB));
    assertMarked(capture, "ip6 and " + ROCE, MARKED6, DISCONNECT_ANSWER6);
    assertThat(Capture.packets(capture, "ip6 and tcp and " + MARKED6)).as("of siw").isZero();
    assertThat(cluster.executorLogs(2))
        .contains(
            "spark.shuffle.rdma.tos has no effect: engine ibverbs cannot set it on device siw0");
  }

  /**
   * Two RoCE devices that no setting names: no block uses TCP, whether they share a subnet or not.
   * Spark's own address is on an iWARP device, which is not used because the fabric is not trusted.
   */
  @Test
  @Tag("nightly")
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
    assertMarked(capture, ROCE, MARKED, DISCONNECT_ANSWER);
  }

  private static long count(String text, String part) {
    return Pattern.compile(part, Pattern.LITERAL).matcher(text).results().count();
  }

  private static void assertMarked(Path capture, String roce, String marked, String exception)
      throws Exception {
    assertThat(Capture.packets(capture, roce + " and " + marked)).isPositive();
    assertThat(Capture.packets(capture, roce + " and not " + marked + " and not " + exception))
        .isZero();
  }

  private static long peakMib(List<String> events) {
    String last = events.get(events.size() - 1);
    return Long.parseLong(last.replace("peak ", "")) >> 20;
  }

  /** Pinned MiB of each executor with a log. */
  private static List<Long> pinnedMib(String logs) {
    return PINNED.matcher(logs).results().map(found -> Long.parseLong(found.group(1))).toList();
  }
}
