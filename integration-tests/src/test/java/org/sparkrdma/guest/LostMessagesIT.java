// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.guest.ClusterRun.assertAllByRead;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * The wire loses one message of the set-up of a connection. The kernel repeats it after seconds:
 * blocks that do not wait for so long use TCP, and later blocks use the connection that came in the
 * background. No peer is quarantined. The time-outs are the plug-in's defaults.
 */
@Isolated("It takes both processors.")
@Timeout(600)
final class LostMessagesIT {
  @Test
  void shouldConnectInTheBackgroundWhenTheFirstRequestIsLost() throws Exception {
    lose(LostMessage.REQ);
  }

  @Test
  @Tag("nightly")
  void shouldConnectWhenTheFirstAnswerOrTheReadyMessageIsLost() throws Exception {
    lose(LostMessage.REP, LostMessage.RTU);
  }

  @Test
  @Tag("nightly")
  void shouldConnectWhenTheFirstMessagesOfIwarpAreLost() throws Exception {
    lose(LostMessage.MPA_REQUEST, LostMessage.MPA_REPLY);
  }

  private static void lose(LostMessage... messages) throws Exception {
    ClusterRun cluster = ClusterRun.named(messages[0].application());
    cluster.with("--wire", "filtered");
    Map<String, StepResult> steps =
        cluster.run(Stream.of(messages).map(LostMessage::application).toArray(String[]::new));
    System.out.println(steps);
    cluster.lostMessages().forEach(System.out::println);
    assertThat(cluster.lostMessages()).hasSameSizeAs(messages);
    assertThat(cluster.executorLogs(1) + cluster.executorLogs(2))
        .doesNotContain("Quarantining peer");
    for (int i = 0; i < messages.length; i++) {
      LostMessage message = messages[i];
      assertThat(cluster.lostMessages().get(i)).startsWith("lost " + message.word() + " ");
      StepResult first = steps.get(message.application() + "/lost");
      StepResult later = steps.get(message.application() + "/later");
      if (message.expected().equals("read")) {
        assertAllByRead(first);
      } else {
        assertOnce(first);
      }
      assertAllByRead(later);
    }
  }

  private static void assertOnce(StepResult step) {
    assertThat(step.right()).as("%s", step).isTrue();
    assertThat(step.rdmaBytes() + step.tcpBytes())
        .as("%s", step)
        .isPositive()
        .isEqualTo(step.remoteBytesRead());
    assertThat(step.fallbacks().keySet()).as("%s", step).isSubsetOf("connect-failed");
    assertThat(step.failedTasks()).as("%s", step).isZero();
  }
}
