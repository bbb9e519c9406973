// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.launch.Refusal;
import org.sparkrdma.launch.ScriptHelp;

class TransferCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench transfer", TransferCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --sizes=64m      | --sizes has '64 MiB': give sizes of at most
          --sizes=x        | 'x'
          --rounds=1001    | --rounds is '1001': give a whole number from 1 to 1000
          --warm-ups=-1    | --warm-ups is '-1': give a whole number from 0 to 1000
          --maps=0         | --maps is '0': give a whole number from 1 to 10000
          --total=1023m    | --total is '1023 MiB': give at least 4 times --pinned, 1 GiB,
          --verify=md5     | md5
          """)
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option, String sentence) {
    assertThat(
            Refusal.of(
                TransferCommand.commandLine(),
                "--project",
                "p",
                "--work-dir",
                directory + "/work",
                option))
        .contains(sentence);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void shouldTurnVerificationOffInOneModeOnly() {
    assertThat(VerifyMode.OFF.conf())
        .containsEntry("spark.shuffle.rdma.verify", "false")
        .containsEntry("spark.shuffle.checksum.algorithm", "ADLER32");
    assertThat(VerifyMode.CRC32C.conf())
        .containsEntry("spark.shuffle.rdma.verify", "true")
        .containsEntry("spark.shuffle.checksum.algorithm", "CRC32C");
  }
}
