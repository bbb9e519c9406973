// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExecutorFaultsTest {
  private static final int SECONDS = 2_000;

  private final List<String> signals = new ArrayList<>();

  @Test
  void shouldContinueEveryExecutorThatItHasStopped() throws Exception {
    ExecutorFaults faults = run(List.of(11L, 12L, 13L));
    Map<String, Integer> stopped = new HashMap<>();
    for (String signal : signals) {
      String pid = signal.substring(signal.indexOf(' '));
      if (signal.startsWith("STOP")) {
        stopped.merge(pid, 1, Integer::sum);
      } else if (signal.startsWith("CONT")) {
        stopped.merge(pid, -1, Integer::sum);
      }
    }
    assertThat(stopped).hasSize(3).allSatisfy((pid, times) -> assertThat(times).isZero());
    assertThat(faults.counts().get("stopped")).isGreaterThan(20);
  }

  @Test
  void shouldKillTheLastExecutorOnly() throws Exception {
    ExecutorFaults faults = run(List.of(11L, 12L, 13L));
    assertThat(signals.stream().filter(signal -> signal.startsWith("KILL")))
        .containsOnly("KILL 13")
        .hasSize(faults.counts().get("killed"));
  }

  @Test
  void shouldDoNothingWhileAnExecutorIsBeingReplaced() throws Exception {
    assertThat(run(List.of(11L, 12L)).counts()).isEmpty();
    assertThat(signals).isEmpty();
  }

  private ExecutorFaults run(List<Long> running) throws Exception {
    ExecutorFaults faults = faults(running);
    for (int second = 0; second < SECONDS; second++) {
      faults.apply(second);
    }
    faults.end();
    return faults;
  }

  private ExecutorFaults faults(List<Long> running) {
    return new ExecutorFaults(
        3, 3, () -> running, (signal, pid) -> signals.add(signal + " " + pid), sentence -> {});
  }
}
