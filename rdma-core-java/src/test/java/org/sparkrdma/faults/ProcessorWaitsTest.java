// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessorWaitsTest {
  @TempDir private Path proc;

  private void thread(int id, String name, long waitedNs) throws IOException {
    Path thread = Files.createDirectories(proc.resolve("self/task/" + id));
    Files.writeString(thread.resolve("comm"), name + "\n");
    Files.writeString(thread.resolve("schedstat"), "7000000 " + waitedNs + " 12\n");
  }

  private void stolen(long ticks) throws IOException {
    Files.writeString(
        proc.resolve("stat"), "cpu  1 2 3 4 5 6 7 " + ticks + " 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
  }

  @Test
  void shouldAddTheWaitsOfAllThreadsAndTheTimeThatTheHypervisorHasTaken() throws IOException {
    thread(1, "main", 5_000_000);
    stolen(3);
    ProcessorWaits before = ProcessorWaits.read(proc);
    thread(1, "main", 45_000_000);
    thread(2, "rdma-agent", 2_000_000);
    stolen(10);

    assertThat(ProcessorWaits.read(proc).msSince(before)).isEqualTo(40 + 2 + 70);
  }

  @Test
  void shouldGiveNoneWhereTheKernelDoesNotCount() {
    ProcessorWaits before = ProcessorWaits.read(proc);

    assertThat(ProcessorWaits.read(proc).msSince(before)).isZero();
  }
}
