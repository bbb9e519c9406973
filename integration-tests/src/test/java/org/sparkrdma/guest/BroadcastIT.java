// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.guest.cluster.StepResult;

/** Broadcast variables between two kernels: right values, of which pieces come by READ. */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(900)
final class BroadcastIT {
  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldBringPiecesByRead(String transport) throws Exception {
    String application = transport + "-broadcast";
    ClusterRun cluster = ClusterRun.named(application);
    assertThat(cluster.run(application).values()).isNotEmpty().allMatch(StepResult::right);
    long copiedBytes = Long.parseLong(cluster.content(application + ".copied").strip());
    System.out.println(application + ": pieces READ from copies: bytes=" + copiedBytes);
    assertThat(copiedBytes).isPositive();
  }
}
