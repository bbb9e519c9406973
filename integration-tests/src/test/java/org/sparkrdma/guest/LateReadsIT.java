// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * READs that complete long after their deadline, because the network between two kernels is slow.
 */
@Tag("nightly")
@Isolated("It takes both processors.")
@Timeout(300)
final class LateReadsIT {
  private static final String ENGINE = "org.sparkrdma.verbs.ibverbs.";

  /** Delay of one direction; a test's deadline is a small part of it. */
  private static final String SLOW = "delay 400ms";

  @TempDir private Path shared;

  @ParameterizedTest
  @CsvSource({"rocev2, LateReadsOnRoceV2", "iwarp, LateReadsOnIwarp"})
  void shouldNotWriteASinkAfterTheEndOfItsRead(String transport, String tests) throws Exception {
    GuestTests.runBeside(
        ENGINE + "LateSource $GUEST_ADDRESS",
        Guest.nodes(2)
            .memory("1G")
            .timeout(Duration.ofSeconds(250))
            .with("--transport", transport)
            .with("--netem", SLOW),
        shared,
        ENGINE + tests);
  }
}
