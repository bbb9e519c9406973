// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.ScriptHelp;

class RecoveryCommandTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench recovery", RecoveryCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--rounds=0",
        "--reducers=3",
        "--kill-after=0",
        "--kill-after=31",
        "--maps=1",
        "--at-most=x"
      })
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option) {
    assertThat(
            RecoveryCommand.commandLine()
                .execute("--project", "p", "--work-dir", directory + "/work", option))
        .isEqualTo(MISUSE);
    assertThat(directory).isEmptyDirectory();
  }
}
