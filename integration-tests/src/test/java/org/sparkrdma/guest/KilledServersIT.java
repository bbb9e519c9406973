// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The plug-in's stress of tasks that post while processes of servers are killed, on kernel RDMA for
 * ten minutes, or as many seconds as {@code -Dstress.seconds} says.
 */
@Tag("nightly")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(900)
final class KilledServersIT {
  private static final long SECONDS = Long.getLong("stress.seconds", 600);

  /** Start and end of the kernel, the last server, and blocks that are still waited for. */
  private static final long REST_SECONDS = 180;

  @ParameterizedTest
  @ValueSource(strings = {"rocev2", "iwarp"})
  void shouldReadNoWrongByteAndKeepNothingOfServersThatAreKilled(String transport)
      throws Exception {
    GuestTests.run(
        GuestTests.guest(transport, Duration.ofSeconds(SECONDS + REST_SECONDS)),
        GuestTests.classPathOfPlugin(),
        List.of("-Dtest.engine=ibverbs", "-Dstress.seconds=" + SECONDS),
        "org.sparkrdma.shuffle.transport.KilledServersTest");
  }
}
