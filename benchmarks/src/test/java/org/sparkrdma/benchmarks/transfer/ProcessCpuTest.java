// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    ProcessCpu before = ProcessCpu.read(tasks);
    thread("11", "1250 9 4");
    thread("13", "40 1 1");
    assertThat(ProcessCpu.read(tasks).since(before).ns()).isEqualTo(290);
  }

  @Test
  void shouldCountNothingForThreadsThatHaveEnded() throws Exception {
    thread("11", "1000 7 3");
    thread("12", "500 7 3");
    ProcessCpu before = ProcessCpu.read(tasks);
    Files.delete(tasks.resolve("12/schedstat"));
    thread("11", "1001 7 3");
    assertThat(ProcessCpu.read(tasks).since(before).ns()).isEqualTo(1);
  }

  @Test
  void shouldCountTheTimeOfTheCompilerApart() throws Exception {
    thread("11", "1000 7 3");
    name("11", "C2 CompilerThre");
    thread("12", "500 7 3");
    name("12", "C1 CompilerThre");
    thread("13", "100 7 3");
    name("13", "rdma-agent-1");
    ProcessCpu before = ProcessCpu.read(tasks);
    thread("11", "1100 7 3");
    thread("12", "510 7 3");
    thread("13", "101 7 3");
    assertThat(ProcessCpu.read(tasks).since(before)).isEqualTo(new CpuTime(111, 110));
  }

  @Test
  void shouldReportWhenTheKernelDoesNotCount() {
    assertThatThrownBy(() -> ProcessCpu.read(tasks))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no schedstat");
  }

  private void name(String id, String comm) throws IOException {
    Files.writeString(tasks.resolve(id).resolve("comm"), comm + "\n");
  }

  private void thread(String id, String line) throws IOException {
    Path directory = Files.createDirectories(tasks.resolve(id));
    Files.writeString(directory.resolve("schedstat"), line + "\n");
  }
}
