// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@Timeout(60)
class LiveProcessesTest {
  private static final Duration SHORT_GRACE = Duration.ofMillis(300);

  @Test
  void shouldKillAProcessThatIgnoresTheFirstSignal() throws IOException {
    Process stubborn = bash("trap '' TERM; echo ready; while :; do sleep 600; done");

    LiveProcesses.end(List.of(stubborn.toHandle()), SHORT_GRACE);

    assertThat(stubborn.isAlive()).isFalse();
  }

  /** Returns when the script has printed that it is ready. */
  private static Process bash(String script) throws IOException {
    Process process = new ProcessBuilder("bash", "-c", script).start();
    BufferedReader output = process.inputReader();
    assertThat(output.readLine()).isEqualTo("ready");
    return process;
  }
}
