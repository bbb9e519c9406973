// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.verbs.contract.ContractMain;

@Timeout(60)
class TimeLimitsTest {
  private static final int FAILED = 1;

  /** Run in a JVM of its own only. */
  @Timeout(1)
  static class IgnoresItsTimeLimit {
    @Test
    void shouldNeverEnd() {
      while (true) {
        LockSupport.parkNanos(1_000_000);
      }
    }
  }

  @Test
  void shouldEndTheJvmOfATestThatIgnoresItsTimeLimit() throws Exception {
    var builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-D" + TimeLimits.GRACE + "=1",
            "-cp",
            System.getProperty("java.class.path"),
            ContractMain.class.getName(),
            IgnoresItsTimeLimit.class.getName());
    Process process = builder.redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(output)
        .contains(
            "FAILED  IgnoresItsTimeLimit.shouldNeverEnd(): does not end within its time limit of 1 s")
        .contains("org.sparkrdma.leak.TimeLimitsTest$IgnoresItsTimeLimit.shouldNeverEnd(");
    assertThat(process.waitFor()).isEqualTo(FAILED);
  }
}
