// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

class LatencyCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench latency", LatencyCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --sizes=64m      | --sizes has '64 MiB': give sizes of at most
          --blocks=0       | --blocks is '0': give a whole number from 1 to 100000
          --blocks=100001  | --blocks is '100001': give a whole number from 1 to 100000
          --batch=0        | --batch is '0': give a whole number from 1 to 2000
          --batch=2001     | --batch is '2001': give a whole number from 1 to 2000
          --batch=2        | --batch is '2': give a number whose blocks of 16 MiB have at most 8 MiB together
          --rounds=0       | --rounds is '0': give a whole number from 1 to 1000
          --warm-ups=-1    | --warm-ups is '-1': give a whole number from 0 to 1000
          --verify=md5     | md5
          """)
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option, String sentence) {
    assertThat(
            Refusal.of(
                LatencyCommand.commandLine(),
                "--project",
                "p",
                "--work-dir",
                directory + "/work",
                option))
        .contains(sentence);
    assertThat(directory).isEmptyDirectory();
  }
}
