// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.launch.Refusal;

class TransferCommandTest {
  @TempDir private Path directory;

  @Test
  void shouldRefuseOptionsThatDoNotFitTogether() {
    assertThat(refusal("--latency", "--ceiling")).contains("give one of them");
    assertThat(refusal("--latency", "--first")).contains("give one of them");
    assertThat(refusal("--batch=2")).contains("--latency or --first: give one of them");
    assertThat(refusal("--ceiling", "--verify=crc32c")).contains("--verify needs bytes");
    assertThat(refusal("--latency", "--batch=2"))
        .contains("--batch is '2': give a number whose blocks of 16 MiB have at most 8 MiB");
  }

  private String refusal(String... options) {
    List<String> all =
        new ArrayList<>(List.of("--project", "p", "--work-dir", directory + "/work"));
    all.addAll(List.of(options));
    return Refusal.of(TransferCommand.class, all.toArray(new String[0]));
  }

  @Test
  void shouldTurnVerificationOffInOneModeOnly() {
    assertThat(TransferPlan.Verify.OFF.conf())
        .containsEntry("spark.shuffle.rdma.verify", "false")
        .containsEntry("spark.shuffle.checksum.algorithm", "ADLER32");
    assertThat(TransferPlan.Verify.CRC32C.conf())
        .containsEntry("spark.shuffle.rdma.verify", "true")
        .containsEntry("spark.shuffle.checksum.algorithm", "CRC32C");
  }
}
