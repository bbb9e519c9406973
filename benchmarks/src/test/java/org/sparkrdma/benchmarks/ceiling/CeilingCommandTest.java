// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.ScriptHelp;

class CeilingCommandTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench ceiling", CeilingCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--sizes=64m",
        "--peers=0",
        "--peers=65",
        "--rounds=0",
        "--seconds=0",
        "--latency=soon",
        "--depth=0"
      })
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option) {
    assertThat(
            CeilingCommand.commandLine()
                .execute("--project", "p", "--work-dir", directory + "/work", option))
        .isEqualTo(MISUSE);
    assertThat(directory).isEmptyDirectory();
  }
}
