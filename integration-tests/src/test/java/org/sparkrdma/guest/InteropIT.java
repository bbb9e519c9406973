// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.guest.interop.RpingServer;

/**
 * The engine's listener and programs of rdma-core. (Not ibv_rc_pingpong: it sends queue pair
 * numbers over TCP and changes states itself, while the engine uses the connection manager.)
 */
@Isolated("It takes both processors.")
@Timeout(150)
final class InteropIT {
  /** Signals the other kernel after the server's first line. */
  private static final String SERVE =
      "$SERVER $GUEST_ADDRESS | while read -r line; do echo $line; touch $GUEST_SHARE/up; done;"
          + " exit ${PIPESTATUS[0]}";

  /** Retried when it hangs, as it may on siw: see docs/dev/testing.md. */
  private static final String PING =
      "until [[ -e $GUEST_SHARE/up ]]; do sleep 0.1; done;"
          + " until timeout 3 rping -c -v -V -C 5 -S 60000 -a $GUEST_PEER_ADDRESS >/tmp/pings"
          + " && [[ -s /tmp/pings ]]; do echo hung; done; cut -c 1-20 /tmp/pings";

  @TempDir private Path shared;

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldServeRping(String transport) throws Exception {
    String java = GuestTests.java(GuestTests.classPath() + ":" + Build.property("it.jobs.jar"));
    GuestResult result =
        Guest.nodes(2)
            .memory("512M")
            .timeout(Duration.ofMinutes(2))
            .with("--transport", transport)
            .with("--share", shared.toString())
            .env("SERVER", java + RpingServer.class.getName())
            .bash("if ((GUEST_NODE == 1)); then " + SERVE + "; else " + PING + "; fi");

    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.node(1).lines()).startsWith("listening").endsWith("pings served: 5");
    if (transport.equals("rocev2")) {
      assertThat(result.node(1).lines()).hasSize(2);
    }
    assertThat(result.node(2).lines())
        .filteredOn(line -> line.startsWith("ping data: rdma-"))
        .hasSize(5);
  }
}
