// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.ProgressLine;

class ExecutorKillerTest {
  private final List<String> asked = new ArrayList<>();
  private final ExecutorKiller loss =
      new ExecutorKiller(
          () -> {
            asked.add("executors");
            return List.of();
          });

  @Test
  void shouldWaitForTheFirstReader() {
    loss.onStep(new ProgressLine("run 1 of 2, sort", 4, 8, "tasks"));
    assertThat(asked).isEmpty();
    loss.onStep(new ProgressLine("run 1 of 2, sort", 5, 8, "tasks"));
    assertThat(asked).hasSize(1);
  }

  @Test
  void shouldKillOnlyOnce() {
    loss.onStep(new ProgressLine("run 1 of 2, sort", 5, 8, "tasks"));
    loss.onStep(new ProgressLine("run 1 of 2, sort", 6, 8, "tasks"));
    assertThat(asked).hasSize(1);
  }

  @Test
  void shouldKillInEachRunAndInNoOtherPhase() {
    loss.onStep(new ProgressLine("generate the input", 8, 8, "tasks"));
    assertThat(asked).isEmpty();
    loss.onStep(new ProgressLine("run 1 of 2, vanilla", 5, 8, "tasks"));
    loss.onStep(new ProgressLine("compute the answer", 8, 8, "tasks"));
    loss.onStep(new ProgressLine("run 2 of 2, rdma", 5, 8, "tasks"));
    assertThat(asked).hasSize(2);
  }
}
