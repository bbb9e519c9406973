// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * Executors in a control group with less memory than the host, on a cluster whose settings contain
 * only IPv6 addresses. RoCE packets have the traffic class that was set; those of siw have not.
 */
@Isolated("It takes both processors.")
@Timeout(600)
final class ContainerLimitIT {
  private static final long LIMIT_MIB = 1_000;
  private static final long HEAP_MIB = 640;

  /** The heap that Java reports is a little smaller: one survivor space is always empty. */
  private static final long MAX_PINNED_MIB = (LIMIT_MIB - HEAP_MIB) / 2 + 16;

  private static final String ROCE = "ip6 and udp dst port 4791";

  /** The traffic class of IPv6, as the applications set it: DSCP 26. */
  private static final String MARKED = "ip6[0:2] & 0x0ff0 == 0x680";

  /** Same as in {@link RailsIT}, after the header of IPv6. */
  private static final String DISCONNECT_ANSWER =
      "(ip6[52:4] & 0xffffff == 1 and ip6[84:2] == 0x16)";

  private static final Pattern PINNED = Pattern.compile("may pin ([0-9]+) MiB: (.*)");

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
    assertThat(Capture.packets(capture, ROCE + " and " + MARKED)).isPositive();
    assertThat(
            Capture.packets(capture, ROCE + " and not " + MARKED + " and not " + DISCONNECT_ANSWER))
        .isZero();
    assertThat(Capture.packets(capture, "ip6 and tcp and " + MARKED)).as("of siw").isZero();
    assertThat(cluster.executorLogs(2))
        .contains(
            "spark.shuffle.rdma.tos has no effect: engine ibverbs cannot set it on device siw0");
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
