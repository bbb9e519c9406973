// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutorUsageTest {
  @TempDir private Path directory;

  @Test
  void shouldReadThePeakOfResidentMemory() throws Exception {
    Path status =
        Files.writeString(
            directory.resolve("status"), "Name:\tjava\nVmHWM:\t  1024 kB\nVmRSS:\t   512 kB\n");
    assertThat(ExecutorUsage.readPeakResidentBytes(status)).isEqualTo(1 << 20);
  }

  @Test
  void shouldReturnZeroWithoutTheFile() throws Exception {
    Path status = Files.writeString(directory.resolve("status"), "Name:\tjava\n");
    assertThat(ExecutorUsage.readPeakResidentBytes(status)).isZero();
    assertThat(ExecutorUsage.readPeakResidentBytes(directory.resolve("none"))).isZero();
  }
}
