// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * A standalone cluster with a Worker in each of two kernels and RDMA between them. After every
 * fault of wires, devices and kernels the result must be vanilla Spark's.
 */
@Isolated("It takes both processors.")
@Timeout(900)
final class SparkOnTwoKernelsIT {
  /** Bounds of a job under a fault. */
  private static final int BOUND_SECONDS = 30;

  private static final int LINK_CUT_BOUND_SECONDS = 100;
  private static final int NODE_LOSS_BOUND_SECONDS = 120;

  /** Highest MTU of RoCE. */
  private static final int MAX_PACKET_BYTES = 4_096;

  @Test
  void shouldShuffleByReadOverRoceAndSurviveNetworkFaults() throws Exception {
    Path capture = Path.of(Build.property("it.guest.directory"), "rocev2.pcap");
    Map<String, StepResult> steps =
        run("rocev2", ClusterRun.named("rocev2").with("--capture", capture.toString()));

    // rxe drops packets that come too early, so its retries may be used up.
    StepResult reordered = steps.get("rocev2/reordering");
    assertThat(reordered.fallbacks().keySet()).as("%s", reordered).isSubsetOf("lost-peer");
    assertMostByRead(reordered);
    assertThat(Capture.packets(capture, "udp dst port 4791"))
        .isGreaterThan(steps.get("rocev2/tera").rdmaBytes() / MAX_PACKET_BYTES);
    StepResult unplugged = steps.get("rocev2/card-unplugged");
    // From the loss of its port on the executor reads by TCP.
    assertEachByteOnce(unplugged);
  }

  @Test
  @Tag("nightly")
  void shouldShuffleByReadOverIwarpAndSurviveNetworkFaults() throws Exception {
    assertAllByRead(run("iwarp", ClusterRun.named("iwarp")).get("iwarp/reordering"));
  }

  private static Map<String, StepResult> run(String transport, ClusterRun cluster)
      throws Exception {
    Map<String, StepResult> steps = cluster.run(transport);
    assertThat(steps.values()).allMatch(StepResult::right);
    for (String step : new String[] {"tera", "blocks", "loss", "card-deleted"}) {
      assertAllByRead(steps.get(transport + "/" + step));
    }
    assertMostByRead(steps.get(transport + "/delay"));
    StepResult cut = steps.get(transport + "/link-cut");
    assertThat(cut.seconds()).as("%s", cut).isGreaterThan(10);
    assertMostByRead(cut);
    for (StepResult step : steps.values()) {
      int bound = step.step().equals("link-cut") ? LINK_CUT_BOUND_SECONDS : BOUND_SECONDS;
      boolean faulty = !List.of("tera", "blocks").contains(step.step());
      assertThat(!faulty || step.seconds() < bound).as("%s", step).isTrue();
    }
    return steps;
  }

  @ParameterizedTest
  @Tag("nightly")
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldAnswerRightWhenAnExecutorAndThenAKernelIsKilledUnderAuthentication(String transport)
      throws Exception {
    String application = transport + "-authenticated";
    Map<String, StepResult> steps = ClusterRun.named(application).run(application);

    assertThat(steps.values()).allMatch(StepResult::right);
    assertAllByRead(steps.get(application + "/tera"));
    assertThat(steps).containsKeys(application + "/executor-killed", application + "/node-killed");
    for (String killed : new String[] {"executor-killed", "node-killed"}) {
      StepResult step = steps.get(application + "/" + killed);
      assertThat(step.failedTasks()).as("%s", step).isPositive();
    }
    assertThat(steps.get(application + "/executor-killed").seconds()).isLessThan(BOUND_SECONDS);
    assertThat(steps.get(application + "/node-killed").seconds())
        .isLessThan(NODE_LOSS_BOUND_SECONDS);
  }

  /**
   * The wire loses one message of the set-up of a connection. The kernel repeats it after seconds:
   * blocks that do not wait for so long use TCP, and later blocks use the connection that came in
   * the background. No peer is quarantined. The time-outs are the plug-in's defaults.
   */
  @Test
  void shouldConnectInTheBackgroundWhenTheFirstRequestIsLost() throws Exception {
    StepResult first = firstWithout("REQ", "rocev2-lost-req");
    assertThat(first.right()).as("%s", first).isTrue();
    assertEachByteOnce(first);
    assertThat(first.fallbacks().keySet()).as("%s", first).isSubsetOf("connect-failed");
  }

  @ParameterizedTest
  @Tag("nightly")
  @CsvSource({
    "REP, rocev2-lost-rep",
    "RTU, rocev2-lost-rtu",
    "MPA-REQUEST, iwarp-lost-request",
    "MPA-REPLY, iwarp-lost-reply"
  })
  void shouldConnectWhenAnotherMessageIsLost(String message, String application) throws Exception {
    assertAllByRead(firstWithout(message, application));
  }

  /** The first job of an application whose first connection loses a message. */
  private static StepResult firstWithout(String message, String application) throws Exception {
    ClusterRun cluster = ClusterRun.named(application).with("--wire", "filtered");
    Map<String, StepResult> steps = cluster.run(application);
    assertThat(cluster.lostMessages()).singleElement().asString().startsWith("lost " + message);
    assertThat(cluster.executorLogs(1) + cluster.executorLogs(2))
        .doesNotContain("Quarantining peer");
    assertAllByRead(steps.get(application + "/later"));
    return steps.get(application + "/lost");
  }

  /** Broadcast variables: right values, of which pieces come by READ. */
  @ParameterizedTest
  @Tag("nightly")
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldBringPiecesOfBroadcastsByRead(String transport) throws Exception {
    String application = transport + "-broadcast";
    ClusterRun cluster = ClusterRun.named(application);
    assertThat(cluster.run(application).values()).isNotEmpty().allMatch(StepResult::right);
    assertThat(Long.parseLong(cluster.content(application + ".copied").strip())).isPositive();
  }

  /** One job and one block transfer in one application. CI runs it on the newer Java version. */
  @Test
  @Tag("smoke")
  @Tag("nightly")
  void shouldSortAndTransferByRead() throws Exception {
    ClusterRun cluster = ClusterRun.named("smoke");
    assertAllByRead(cluster.run("rocev2-smoke-transfer").get("rocev2-smoke-transfer/tera"));
    // It fails unless every byte comes by READ.
    assertThat(new ObjectMapper().readTree(cluster.content("rocev2-smoke-transfer.cases")))
        .isNotEmpty();
  }

  /** At least half of the bytes came by READ and the others by TCP. */
  private static void assertMostByRead(StepResult step) {
    assertThat(step.rdmaBytes()).as("%s", step).isGreaterThanOrEqualTo(step.remoteBytesRead() / 2);
    assertThat(step.rdmaBytes()).as("%s", step).isPositive();
    assertEachByteOnce(step);
  }

  private static void assertEachByteOnce(StepResult step) {
    assertThat(step.rdmaBytes() + step.tcpBytes())
        .as("%s", step)
        .isPositive()
        .isEqualTo(step.remoteBytesRead());
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }
}
