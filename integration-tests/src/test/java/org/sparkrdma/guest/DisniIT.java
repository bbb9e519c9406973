// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.guest.cluster.StepResult;

/**
 * The verbs contract, foreign and misbehaving peers, and Spark on two kernels, over DiSNI: when
 * {@code -Ddisni.library=FOLDER} names the folder of a libdisni, on Java 17.
 */
@Isolated("It takes both processors.")
@Timeout(900)
final class DisniIT {
  private static final String ENGINE = "org.sparkrdma.verbs.disni.";
  private static final String TRANSPORT = "org.sparkrdma.shuffle.transport.";

  @BeforeEach
  void requireLibrary() {
    Disni.assumeUsable();
  }

  @ParameterizedTest
  @CsvSource({"rocev2, DisniVerbsContractOnRoceV2", "iwarp, DisniVerbsContractOnIwarp"})
  void shouldKeepTheContract(String transport, String tests) throws Exception {
    GuestTests.run(
        GuestTests.guest(transport, Duration.ofMinutes(9)),
        GuestTests.classPath(),
        Disni.options(),
        ENGINE + tests);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldLoseNothingToStrangersAndPeersThatMisbehave(String transport) throws Exception {
    GuestTests.run(
        GuestTests.guest(transport, Duration.ofMinutes(5)),
        GuestTests.classPathOfPlugin(),
        Disni.options("-Dtest.engine=disni"),
        TRANSPORT + "HostilePeerTest");
  }

  @Test
  void shouldShuffleByReadBetweenTwoKernels() throws Exception {
    Map<String, StepResult> steps = ClusterRun.named("disni").run("rocev2-disni", "iwarp-disni");
    assertThat(steps).hasSize(4);
    assertThat(steps.values()).allMatch(StepResult::right);
    for (StepResult step : steps.values()) {
      assertThat(step.rdmaBytes()).as("%s", step).isPositive().isEqualTo(step.remoteBytesRead());
      assertThat(step.tcpBytes()).as("%s", step).isZero();
      assertThat(step.failedTasks()).as("%s", step).isZero();
    }
  }
}
