// SPDX-License-Identifier: Apache-2.0
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
  void shouldCompleteARequestWhenItReachesAFifthOfTheInFlightLimit(int blockBytes, int blocks) {
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

  @ParameterizedTest
  @CsvSource({"4096,7", "4096,5", "4096,100", "102400,1", "5242880,1", "1024,128"})
  void shouldGiveARequestOfAReducerItsBlockOfEveryMapOutput(int blockBytes, int maps) {
    List<String[]> plan = FetchPlan.ofReducers(new Layout(blockBytes, maps, 3), 7);
    assertThat(plan).hasSize(3).allSatisfy(request -> assertThat(request).hasSize(maps));
    assertThat(plan.stream().flatMap(Stream::of))
        .startsWith("shuffle_7_0_0")
        .endsWith("shuffle_7_%d_2".formatted(maps - 1))
        .doesNotHaveDuplicates();
  }

  @Test
  void shouldGiveEachRequestOfALatencyABlockOfEveryMapOutput() {
    TransferPlan plan = plan(TransferKind.LATENCY, 128);
    assertThat(plan.layout(4_096)).isEqualTo(new Layout(4_096, 128, 15));
    assertThat(plan.layout(16 << 20)).isEqualTo(new Layout(16 << 20, 128, 1));
  }

  private static TransferPlan plan(TransferKind kind, int batch) {
    return new TransferPlan(kind, List.of(4_096, 65_536), batch, 1, 5, 1 << 20, CpuScope.PROCESS);
  }
}
