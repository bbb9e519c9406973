// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.transfer.Layout;
import org.sparkrdma.benchmarks.transfer.TransferEngine;

class LatencyRoundTest {
  private static final long SUM = 5;
  private static final Layout LAYOUT = new Layout(1024, 4, 100);
  private static final Map<String, Long> BY_READ = Map.of("rdma.bytes.read", 4 * 100 * 1024L);

  /** 1 to 100 us. */
  private static final List<Long> TIMES =
      LongStream.rangeClosed(1, 100).map(us -> us * 1000).boxed().toList();

  @Test
  void shouldTakePercentilesByNearestRank() {
    assertThat(Latencies.of(TIMES)).isEqualTo(new Latencies(50, 99));
    assertThat(Latencies.of(List.of(7_000L))).isEqualTo(new Latencies(7, 7));
  }

  @Test
  void shouldDivideTheTimesOfThePlugInByThoseOfSparksOwnClient() {
    LatencyRound round = round(SUM, BY_READ);
    assertThat(round.objection()).isEmpty();
    assertThat(round.p50Ratio()).isEqualTo(0.5);
    assertThat(round.p99Ratio()).isEqualTo(0.5);
  }

  @Test
  void shouldGiveTheBytesThatTheReaderAllocatedForEachBlockOfThePlugIn() {
    assertThat(round(SUM, BY_READ).rdmaBytes()).isEqualTo(150);
  }

  @Test
  void shouldObjectToWrongBytesAndToBytesByTcp() {
    assertThat(round(SUM + 1, BY_READ).objection().orElseThrow())
        .contains("differ")
        .contains("RDMA");
    assertThat(round(SUM, Map.of("rdma.bytes.read", 1L)).objection().orElseThrow())
        .startsWith("1 of 409600 bytes used RDMA READ");
  }

  @Test
  void shouldObjectToAnotherNumberOfRequests() {
    assertThat(round(SUM, BY_READ, TIMES.subList(1, 100)).objection().orElseThrow())
        .isEqualTo("99 requests instead of 100: engine=RDMA");
  }

  @Test
  void shouldGiveEachRequestABlockOfEveryMapOutput() {
    LatencyPlan plan = new LatencyPlan(List.of(4096), 2000, 128, 0, 1, 1);
    assertThat(plan.layout(4096)).isEqualTo(new Layout(4096, 128, 15));
    assertThat(plan.layout(16 << 20)).isEqualTo(new Layout(16 << 20, 128, 1));
  }

  private static LatencyRound round(long readSum, Map<String, Long> counters) {
    return round(readSum, counters, TIMES);
  }

  private static LatencyRound round(
      long readSum, Map<String, Long> counters, List<Long> rdmaTimes) {
    return LatencyRound.of(
        LAYOUT,
        List.of(
            new LatencyShare(TransferEngine.RDMA, SUM, List.of(), 0, Map.of()),
            new LatencyShare(TransferEngine.NETTY, SUM, List.of(), 0, Map.of()),
            new LatencyShare(TransferEngine.RDMA, readSum, rdmaTimes, 60_000, counters),
            new LatencyShare(
                TransferEngine.NETTY,
                SUM,
                TIMES.stream().map(ns -> 2 * ns).toList(),
                100_000,
                Map.of())));
  }
}
