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
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FetchPlanTest {
  @ParameterizedTest
  @CsvSource({"4096,2458", "65536,154", "1048576,10", "16777216,1"})
  void shouldCompleteARequestWhenItReachesAFifthOfWhatMayBeInFlight(int blockBytes, int blocks) {
    List<String[]> plan = FetchPlan.of(new Layout(blockBytes, 2, 5_000), 0);
    assertThat(plan.get(0)).hasSize(blocks);
  }

  @Test
  void shouldAskForEveryBlockOnceAndForOneReducerAfterTheOther() {
    List<String[]> plan = FetchPlan.of(new Layout(4 << 20, 2, 4), 7);
    assertThat(plan).extracting(request -> request.length).containsExactly(3, 3, 2);
    assertThat(plan.stream().flatMap(Stream::of))
        .startsWith("shuffle_7_0_0", "shuffle_7_1_0", "shuffle_7_0_1", "shuffle_7_1_1")
        .hasSize(8)
        .doesNotHaveDuplicates();
  }

  @Test
  void shouldWarmUpOnceMoreWithTheFirstBlockLength() {
    TransferPlan plan =
        new TransferPlan(List.of(4_096, 65_536), 1, 5, 1 << 20, 2, 0, CpuScope.PROCESS);
    assertThat(plan.layouts()).extracting(plan::warmUps).containsExactly(2, 1);
  }

  @ParameterizedTest
  @CsvSource({"1048576,2,65536,8", "1048577,2,65536,9", "1,4,1024,1"})
  void shouldRoundALayoutUpToWholeReducers(long total, int maps, long blockBytes, int reducers) {
    Layout layout = Layout.of(total, maps, blockBytes);
    assertThat(layout.reducers()).isEqualTo(reducers);
    assertThat(layout.totalBytes()).isEqualTo(blockBytes * maps * reducers);
  }
}
