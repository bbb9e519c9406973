/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.ProgressLine;

class ExecutorLossTest {
  private final List<String> asked = new ArrayList<>();
  private final ExecutorLoss loss =
      new ExecutorLoss(
          8,
          () -> {
            asked.add("executors");
            return List.of();
          });

  @Test
  void shouldWaitForTheJobThatReadsAndForItsFirstReader() {
    loss.onStep(new ProgressLine("sort", 4, 4, "tasks"));
    loss.onStep(new ProgressLine("sort", 4, 8, "tasks"));
    assertThat(asked).isEmpty();
    loss.onStep(new ProgressLine("sort", 5, 8, "tasks"));
    assertThat(asked).hasSize(1);
  }

  @Test
  void shouldKillOnlyOnce() {
    loss.onStep(new ProgressLine("sort", 5, 8, "tasks"));
    loss.onStep(new ProgressLine("sort", 6, 8, "tasks"));
    assertThat(asked).hasSize(1);
  }
}
