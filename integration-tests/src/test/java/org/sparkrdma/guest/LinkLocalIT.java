// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * RoCE and iWARP devices that have an IPv6 link-local address and no other, on interfaces whose
 * numbers, the scopes of these addresses, differ between the hosts. Spark's own connections use
 * another wire.
 */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(600)
final class LinkLocalIT {
  /**
   * A switch joins wire1 of node 1 and wire3 of node 2, which are on the same link then. The
   * kernels have numbered their interfaces alike, so the scopes differ. An interface has one RDMA
   * device only, because the connection manager chooses the device by the address.
   */
  private static final String ONE_LINK =
      "ip addr flush dev wire1 scope global && ip addr flush dev wire3 scope global"
          + " && if ((%1$d == 1)); then own=wire1 kept=rxe0 other=rxe1;"
          + " else own=wire3 kept=rxe1 other=rxe0; fi && rdma link delete $other && ";

  private static final Map<String, String> DEVICE =
      Map.of(
          "rocev2", ": $kept",
          "iwarp", "rdma link delete $kept && rdma link add siw1 type siw netdev $own");

  private static final String OF_LINK = "src net fe80::/10 and dst net fe80::/10";
  private static final String ROCE = "udp dst port 4791";

  /** Device, address and scope of an executor. */
  private static final Pattern UP =
      Pattern.compile(
          "RDMA is up: device (\\w+) port 1 of engine ibverbs at \\[fe80:[0-9a-f:]+%(\\d+)/64");

  @ParameterizedTest
  @CsvSource({"rocev2, rxe0, rxe1", "iwarp, siw1, siw1"})
  void shouldReadOverLinkLocalAddressesWhereTheyAreSelectedAndOtherwiseSayWhyNot(
      String transport, String device, String deviceOfPeer) throws Exception {
    String name = transport + "-link-local";
    Path capture = Path.of(Build.property("it.guest.directory"), name + ".pcap");
    ClusterRun cluster =
        ClusterRun.named(name)
            .with("--rails", "2")
            .with("--capture", capture.toString())
            .prepared(ONE_LINK + DEVICE.get(transport));

    Map<String, StepResult> steps = cluster.run(name + "-selected", name);

    System.out.println("link-local: " + steps);
    assertAllByRead(steps.get(name + "-selected/blocks"));
    assertWithoutRdma(steps.get(name + "/blocks"));
    String scope = scope(cluster.executorLogs(1), device);
    String scopeOfPeer = scope(cluster.executorLogs(2), deviceOfPeer);
    System.out.println("link-local: scopes " + scope + " " + scopeOfPeer);
    assertThat(scope).isNotEqualTo(scopeOfPeer);
    assertReason(cluster.executorLogs(1), device, scope);
    assertReason(cluster.executorLogs(2), deviceOfPeer, scopeOfPeer);
    if (transport.equals("rocev2")) {
      assertThat(Capture.packets(capture, ROCE + " and " + OF_LINK)).isPositive();
      assertThat(Capture.packets(capture, ROCE + " and not (" + OF_LINK + ")")).isZero();
    } else {
      assertThat(Capture.packets(capture, "tcp and " + OF_LINK)).isPositive();
    }
  }

  /** Scope of the address where the one executor listened that used RDMA. */
  private static String scope(String logs, String device) {
    List<MatchResult> up = UP.matcher(logs).results().toList();
    assertThat(up).as("%s", logs).hasSize(1);
    assertThat(up.get(0).group(1)).isEqualTo(device);
    return up.get(0).group(2);
  }

  /** One WARN of the executor that did not use the device names its address and the setting. */
  private static void assertReason(String logs, String device, String scope) {
    assertThat(logs.lines().filter(line -> line.contains(device + " port 1 has only link-local")))
        .singleElement()
        .asString()
        .contains("WARN")
        .contains("RDMA is not used in this executor until it can be started: ")
        .containsPattern("addresses=fe80:[0-9a-f:]+%" + scope + ": ")
        .contains("set spark.shuffle.rdma.listen.address=fe80::/10");
  }

  /** Remote bytes came by TCP. */
  private static void assertWithoutRdma(StepResult step) {
    assertThat(step.right()).as("%s", step).isTrue();
    assertThat(step.remoteBytesRead()).as("%s", step).isPositive();
    assertThat(step.rdmaBytes()).as("%s", step).isZero();
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }
}
