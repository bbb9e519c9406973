// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.launch.ScriptHelp;

class TransferCommandTest {
  private static final int MISUSE = 2;

  @TempDir private Path directory;

  @Test
  void shouldExplainEveryOptionAndEveryDefaultInTheScriptsHelp() throws Exception {
    ScriptHelp.assertExplains("bench transfer", TransferCommand.commandLine(), "default "::concat);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--sizes=64m", "--sizes=x", "--rounds=0", "--total=1023m", "--verify=md5"})
  void shouldRefuseMisuseBeforeAnythingIsStarted(String option) {
    assertThat(
            TransferCommand.commandLine()
                .execute("--project", "p", "--work-dir", directory + "/work", option))
        .isEqualTo(MISUSE);
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
