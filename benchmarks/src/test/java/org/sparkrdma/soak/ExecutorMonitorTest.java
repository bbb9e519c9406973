// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExecutorMonitorTest {
  private static final int LENGTH = 2_000;
  private static final int QUIET = 30;

  /** More than any process number of Linux. */
  private static final List<Long> NO_PROCESSES = List.of(5_000_001L, 5_000_002L, 5_000_003L);

  @TempDir private Path processes;

  @Test
  void shouldTakeNoSnapshotWhileAnExecutorIsStopped() {
    int delayed = 0;
    for (int seed = 1; seed <= 50; seed++) {
      List<Double> taken = new ArrayList<>();
      List<String> signals = new ArrayList<>();
      ExecutorFaults faults =
          new ExecutorFaults(
              seed, 3, () -> NO_PROCESSES, (signal, pid) -> signals.add(signal), sentence -> {});
      // Reads the number of jobs once for each snapshot.
      double[] now = new double[1];
      MemorySnapshots snapshots =
          new MemorySnapshots(
              processes,
              LENGTH,
              640,
              () -> {
                assertThat(faults.isAnyStopped()).isFalse();
                taken.add(now[0]);
                return 0;
              },
              pid -> Map.of(),
              sentence -> {});
      ExecutorMonitor monitor =
          new ExecutorMonitor(() -> NO_PROCESSES, faults, snapshots, 640, LENGTH - QUIET);
      for (int second = 1; second <= LENGTH; second++) {
        now[0] = second;
        monitor.tick(second);
      }
      assertThat(signals).contains("STOP");
      assertThat(taken).hasSize(2);
      assertThat(taken.get(0)).isBetween(500.0, 510.0);
      assertThat(taken.get(1)).isEqualTo(1_995);
      delayed += taken.get(0) > 500 ? 1 : 0;
    }
    assertThat(delayed).as("soaks with an executor stopped at the end of the warm-up").isPositive();
  }
}
