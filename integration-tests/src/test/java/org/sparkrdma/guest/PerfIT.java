// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The commands {@code perf} and {@code doctor --peer} of the packaged plug-in, between two kernels.
 */
@Execution(ExecutionMode.CONCURRENT)
@Timeout(200)
final class PerfIT {
  /** Node 2 answers until node 1 is over. */
  private static final String TWO_NODES =
      """
      if ((GUEST_NODE == 2)); then
        $PLUGIN perf server --conf $CONF --host $GUEST_ADDRESS >$GUEST_SHARE/up &
        until [[ -e $GUEST_SHARE/over ]]; do sleep 0.1; done
        exit 0
      fi
      trap 'touch $GUEST_SHARE/over' EXIT
      until [[ -s $GUEST_SHARE/up ]]; do sleep 0.1; done
      $PLUGIN doctor -v --peer $GUEST_PEER_ADDRESS --conf $CONF --host $GUEST_ADDRESS
      $PLUGIN perf client $GUEST_PEER_ADDRESS --conf $CONF --host $GUEST_ADDRESS \\
        --json --sizes 8,4k,64k --ms 1000 >$GUEST_SHARE/perf.json
      exit $?
      """;

  @TempDir private Path shared;

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldReachThePeerByReadAndMeasureItBesideTcp(String transport) throws Exception {
    Path conf =
        Files.writeString(
            shared.resolve("spark-defaults.conf"),
            // An executor's default heap leaves this host nothing.
            "spark.shuffle.rdma.engine ibverbs\nspark.shuffle.rdma.fabric.trusted true\n"
                + "spark.shuffle.rdma.pinned.max 64m\n");
    String java = GuestJdk.home() + "/bin/java " + GuestJdk.START_SOON + " -jar ";
    GuestResult result =
        Guest.nodes(2)
            .memory("1G")
            .timeout(Duration.ofSeconds(150))
            .with("--transport", transport)
            .with("--share", shared.toString())
            .bash(
                TWO_NODES
                    .replace("$PLUGIN", java + Build.property("it.plugin.jar"))
                    .replace("$CONF", conf.toString()));

    assertThat(result.exitCode()).as(result.output()).isZero();
    List<String> lines = result.node(1).lines();
    assertThat(lines)
        .as(result.output())
        .anyMatch(line -> line.matches("ok +Peer [0-9.]+ answers by TCP\\."))
        .anyMatch(line -> line.matches("ok +RDMA from=.* a READ of 8 bytes takes .*"));
    JsonNode report = new ObjectMapper().readTree(shared.resolve("perf.json").toFile());
    assertThat(report.path("engine").asText()).isEqualTo("ibverbs");
    assertThat(report.path("rows")).hasSize(3);
    for (JsonNode row : report.path("rows")) {
      System.out.println("perf " + transport + ": " + row);
      assertThat(row.path("read").path("bytesPerSecond").asLong()).isPositive();
      assertThat(row.path("tcp").path("bytesPerSecond").asLong()).isPositive();
    }
    System.out.println("perf " + transport + ": " + report.path("prices") + report.path("tuning"));
    JsonNode prices = report.path("prices");
    assertThat(prices.path("registrations").findValuesAsText("bytes"))
        .containsExactly("65536", "1048576", "16777216");
    assertThat(prices.path("registrations").findValuesAsText("warmNs")).doesNotContain("0");
    assertThat(prices.path("setUpNs").asLong()).isPositive();
    assertThat(prices.path("postOfFourNs").asLong()).isPositive();
    assertThat(report.path("tuning").asText()).contains(" pay", "us and ", "ns a page");
    // READs need no work of the peer's process; what it does besides counts least in the last row.
    JsonNode largest = report.path("rows").path(2);
    assertThat(largest.path("read").path("serverCpuNsPerGib").asLong())
        .isLessThan(largest.path("tcp").path("serverCpuNsPerGib").asLong());
  }
}
