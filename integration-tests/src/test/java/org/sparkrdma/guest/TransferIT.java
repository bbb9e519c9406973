// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Shuffle blocks from one kernel to the other, alternating the plug-in and Spark's own transfer.
 * The warm-up compares every byte, and all blocks of the plug-in must come by READ. Speed is
 * measured, not asserted; the CPU time is that of the whole kernel, in which soft RDMA does the
 * work of a card. {@code -Dguest.mtu} is the MTU of the wire. {@link SmokeIT} has a shorter one.
 */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(900)
final class TransferIT {
  @Test
  void shouldMoveTheSameBlocksAsSparksOwnTransferBetweenTwoKernels() throws Exception {
    ClusterRun cluster =
        ClusterRun.named("transfer").with("--mtu", System.getProperty("guest.mtu", "4200"));
    cluster.run("rocev2-transfer", "iwarp-transfer");

    for (String transport : new String[] {"rocev2", "iwarp"}) {
      ArrayNode cases = TransferCases.byRead(cluster, transport + "-transfer");
      System.out.printf(
          "%s: block bytes, RDMA / Netty: throughput, server CPU, client CPU%n", transport);
      for (JsonNode one : cases) {
        System.out.printf(
            Locale.ROOT,
            "%9d %s %s %s%n",
            one.path("blockBytes").asInt(),
            spread(one, "throughput"),
            spread(one, "serverCpu"),
            spread(one, "clientCpu"));
      }
      GuestReport.add(transport, result -> result.set("transfer", cases));
    }
  }

  private static String spread(JsonNode one, String ratio) {
    JsonNode spread = one.path("figures").path(ratio);
    return String.format(
        Locale.ROOT,
        "%.2f (%.2f..%.2f)",
        spread.path("median").asDouble(),
        spread.path("lower").asDouble(),
        spread.path("upper").asDouble());
  }
}
