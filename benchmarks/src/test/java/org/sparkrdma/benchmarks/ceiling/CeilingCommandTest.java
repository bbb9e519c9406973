// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

class CeilingCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench ceiling", CeilingCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --sizes=64m      | --sizes has '64 MiB': give sizes of at most
          --peers=0        | --peers is '0': give a whole number from 1 to 64
          --peers=1,65     | --peers is '65': give a whole number from 1 to 64
          --rounds=0       | --rounds is '0': give a whole number from 1 to 1000
          --warm-ups=-1    | --warm-ups is '-1': give a whole number from 0 to 1000
          --seconds=0      | --seconds is '0': give a whole number from 1 to 600
          --latency=soon   | soon
          --depth=0        | depth
          """)
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option, String sentence) {
    assertThat(
            Refusal.of(
                CeilingCommand.commandLine(),
                "--project",
                "p",
                "--work-dir",
                directory + "/work",
                option))
        .contains(sentence);
    assertThat(directory).isEmptyDirectory();
  }
}
