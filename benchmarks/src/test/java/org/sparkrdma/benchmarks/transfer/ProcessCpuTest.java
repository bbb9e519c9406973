// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessCpuTest {
  @TempDir private Path tasks;

  @Test
  void shouldSumTheTimeOfOldAndNewThreads() throws Exception {
    thread("11", "1000 7 3");
    thread("12", "500 7 3");
    Meter.ProcessCpu before = Meter.ProcessCpu.read(tasks);
    thread("11", "1250 9 4");
    thread("13", "40 1 1");
    assertThat(Meter.ProcessCpu.read(tasks).since(before)).isEqualTo(290);
  }

  @Test
  void shouldCountNothingForThreadsThatHaveEnded() throws Exception {
    thread("11", "1000 7 3");
    thread("12", "500 7 3");
    Meter.ProcessCpu before = Meter.ProcessCpu.read(tasks);
    Files.delete(tasks.resolve("12/schedstat"));
    thread("11", "1001 7 3");
    assertThat(Meter.ProcessCpu.read(tasks).since(before)).isEqualTo(1);
  }

  @Test
  void shouldReadTheClockOfTheProcessWhereTheKernelDoesNotCountThreads() throws Exception {
    Meter.ProcessCpu before = Meter.ProcessCpu.read(tasks);
    assertThat(before.nsByThread()).hasSize(1);
    assertThat(Meter.ProcessCpu.read(tasks).since(before)).isNotNegative();
  }

  private void thread(String id, String line) throws IOException {
    Path directory = Files.createDirectories(tasks.resolve(id));
    Files.writeString(directory.resolve("schedstat"), line + "\n");
  }
}
