// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

class RecoveryCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench recovery", RecoveryCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --rounds=0       | --rounds is '0': give a whole number from 1 to 1000
          --reducers=3     | --reducers is '3': give a whole number from 4 to 10000
          --kill-after=0   | --kill-after is '0': give a whole number from 1 to 30
          --kill-after=31  | --kill-after is '31': give a whole number from 1 to 30
          --maps=1         | --maps is '1': give a whole number from 2 to 10000
          --size=1000t     | --size is '1000 TiB', which gives blocks of
          --at-most=x      | 'x'
          """)
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option, String sentence) {
    assertThat(
            Refusal.of(
                RecoveryCommand.commandLine(),
                "--project",
                "p",
                "--work-dir",
                directory + "/work",
                option))
        .contains(sentence);
    assertThat(directory).isEmptyDirectory();
  }
}
