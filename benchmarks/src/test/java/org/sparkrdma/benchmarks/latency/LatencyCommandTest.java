// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.ScriptHelp;

class LatencyCommandTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench latency", LatencyCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--sizes=64m",
        "--blocks=0",
        "--blocks=100001",
        "--batch=0",
        "--batch=2001",
        "--batch=2",
        "--rounds=0",
        "--warm-ups=-1",
        "--verify=md5"
      })
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option) {
    assertThat(
            LatencyCommand.commandLine()
                .execute("--project", "p", "--work-dir", directory + "/work", option))
        .isEqualTo(MISUSE);
    assertThat(directory).isEmptyDirectory();
  }
}
