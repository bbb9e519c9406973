// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.soak.Sample.Measure;

class SampleTest {
  @TempDir private Path process;

  @Test
  void shouldReadTheFilesOfTheKernel() throws Exception {
    Files.writeString(
        process.resolve("cmdline"), "java\0-Xmx640M\0--executor-id\0004\0--cores\0001\0");
    Files.writeString(
        process.resolve("status"), "Name:\tjava\nVmRSS:\t  1048576 kB\nThreads:\t3\n");
    for (String thread : List.of("java", "rdma-agent-1", "block-manager-s")) {
      Files.writeString(
          Files.createDirectories(process.resolve("task").resolve(thread)).resolve("comm"),
          thread + "\n");
    }
    Files.write(process.resolve("maps"), List.of("1", "2", "3"));
    Path descriptors = Files.createDirectory(process.resolve("fd"));
    Files.createFile(descriptors.resolve("0"));
    Files.createFile(descriptors.resolve("1"));
    assertThat(Sample.take(process, 17, 2.5))
        .contains(
            new Sample(
                2.5,
                "4",
                17,
                Map.of(
                    Measure.NATIVE_MIB, 384.0,
                    Measure.DESCRIPTORS, 2.0,
                    Measure.THREADS, 2.0,
                    Measure.STORAGE_THREADS, 1.0,
                    Measure.MAPPINGS, 3.0)));
  }

  @Test
  void shouldTakeNoneOfAProcessThatHasEndedOrIsNoExecutor() throws Exception {
    assertThat(Sample.take(process.resolve("gone"), 17, 1)).isEmpty();
    Files.writeString(process.resolve("cmdline"), "java\0");
    assertThat(Sample.take(process, 17, 1)).isEmpty();
  }
}
