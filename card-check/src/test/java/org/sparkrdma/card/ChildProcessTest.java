// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ChildProcessTest {
  /** Starts a child that sleeps, prints its process id, and waits for it. */
  public static void main(String[] args) throws Exception {
    List<String> command = List.of("sh", "-c", "echo $$; exec sleep 300");
    try (ChildProcess child = new ChildProcess(command, Map.of(), System.out::println)) {
      child.await(Instant.now().plusSeconds(300));
    }
  }

  @Test
  void shouldEndWithItsParentThatASignalEnds() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process parent =
        new ProcessBuilder(
                java,
                "-cp",
                System.getProperty("java.class.path"),
                ChildProcessTest.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader output = parent.inputReader(StandardCharsets.UTF_8)) {
      ProcessHandle child = ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow();
      parent.destroy();
      assertThat(parent.waitFor(30, TimeUnit.SECONDS)).isTrue();
      child.onExit().get(30, TimeUnit.SECONDS);
    } finally {
      parent.destroyForcibly();
    }
  }
}
