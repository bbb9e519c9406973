// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * The wire loses one message of the set-up of a connection. The kernel repeats it after seconds:
 * blocks use TCP meanwhile, and later blocks use the connection that came in the background. No
 * peer is quarantined.
 */
@Isolated("It takes both processors.")
@Timeout(600)
final class LostMessagesIT {
  @Test
  void shouldConnectInTheBackgroundWhenTheFirstRequestIsLost() throws Exception {
    Map<String, StepResult> steps = lose(List.of("REQ"), "rocev2-lost-req");

    assertAllByTcp(steps.get("rocev2-lost-req/lost"));
  }

  @Test
  @Tag("nightly")
  void shouldConnectWhenTheFirstAnswerOrTheReadyMessageIsLost() throws Exception {
    Map<String, StepResult> steps =
        lose(List.of("REP", "RTU"), "rocev2-lost-rep", "rocev2-lost-rtu");

    assertAllByTcp(steps.get("rocev2-lost-rep/lost"));
    // The first message of the initiator stands for the ready message.
    assertAllByRead(steps.get("rocev2-lost-rtu/lost"));
  }

  @Test
  @Tag("nightly")
  void shouldConnectWhenTheFirstMessagesOfIwarpAreLost() throws Exception {
    Map<String, StepResult> steps =
        lose(List.of("MPA-REQUEST", "MPA-REPLY"), "iwarp-lost-request", "iwarp-lost-reply");

    // TCP repeats them in less time than blocks wait.
    assertAllByRead(steps.get("iwarp-lost-request/lost"));
    assertAllByRead(steps.get("iwarp-lost-reply/lost"));
  }

  private static Map<String, StepResult> lose(List<String> messages, String... applications)
      throws Exception {
    ClusterRun cluster = ClusterRun.named(applications[0]).with("--wire", "filtered");
    Map<String, StepResult> steps = cluster.run(applications);
    cluster.lostMessages().forEach(System.out::println);
    assertThat(cluster.lostMessages()).hasSameSizeAs(messages);
    for (int i = 0; i < messages.size(); i++) {
      assertThat(cluster.lostMessages().get(i)).startsWith("lost " + messages.get(i) + " ");
    }
    for (String application : applications) {
      assertAllByRead(steps.get(application + "/later"));
    }
    assertThat(cluster.executorLogs(1) + cluster.executorLogs(2))
        .doesNotContain("Quarantining peer");
    return steps;
  }

  private static void assertAllByRead(StepResult step) {
    assertThat(step.right()).as("%s", step).isTrue();
    assertThat(step.rdmaBytes()).as("%s", step).isPositive().isEqualTo(step.remoteBytesRead());
    assertThat(step.fallbacks()).as("%s", step).isEmpty();
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }

  private static void assertAllByTcp(StepResult step) {
    assertThat(step.right()).as("%s", step).isTrue();
    assertThat(step.tcpBytes()).as("%s", step).isPositive().isEqualTo(step.remoteBytesRead());
    assertThat(step.fallbacks()).as("%s", step).containsOnlyKeys("connect-failed");
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }
}
