// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
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
    assertThat(unplugged.rdmaBytes() + unplugged.tcpBytes())
        .as("%s", unplugged)
        .isPositive()
        .isEqualTo(unplugged.remoteBytesRead());
    assertThat(unplugged.failedTasks()).as("%s", unplugged).isZero();
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

  /** Each remote byte was read once, at least half of them by READ and the others by TCP. */
  private static void assertMostByRead(StepResult step) {
    assertThat(step.rdmaBytes()).as("%s", step).isGreaterThanOrEqualTo(step.remoteBytesRead() / 2);
    assertThat(step.rdmaBytes()).as("%s", step).isPositive();
    assertThat(step.rdmaBytes() + step.tcpBytes()).as("%s", step).isEqualTo(step.remoteBytesRead());
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }
}
