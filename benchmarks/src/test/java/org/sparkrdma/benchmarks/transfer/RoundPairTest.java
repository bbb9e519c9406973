// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RoundPairTest {
  private static final Map<String, Long> NONE = Map.of();
  private static final EngineShare SERVED =
      new EngineShare.Served(
          TransferEngine.RDMA, 77, new CpuTime(5, 0), Map.of("reads", 1L, "served", 2L));
  private static final EngineShare FETCHED =
      new EngineShare.Fetched(
          TransferEngine.RDMA, 100, 10, 77, new CpuTime(6, 0), Map.of("reads", 3L));
  private static final EngineShare SERVED_BY_NETTY =
      new EngineShare.Served(TransferEngine.NETTY, 78, new CpuTime(7, 0), Map.of());

  private static final EngineShare COPIED =
      new EngineShare.Copied(TransferEngine.RDMA, new CopyCost(0.25, 0.5));

  private static EngineShare fetchedByNetty(long sum) {
    return new EngineShare.Fetched(TransferEngine.NETTY, 100, 20, sum, new CpuTime(8, 0), Map.of());
  }

  @Test
  void shouldJoinTheMeasurementsOfBothExecutors() {
    RoundPair pair =
        RoundPair.of(4, List.of(SERVED_BY_NETTY, SERVED, COPIED, fetchedByNetty(78), FETCHED));
    assertThat(pair.rdma())
        .isEqualTo(
            new Sample(
                TransferEngine.RDMA,
                100,
                10,
                new CpuTime(5, 0),
                new CpuTime(6, 0),
                true,
                Map.of("reads", 4L, "served", 2L)));
    assertThat(pair.netty())
        .isEqualTo(
            new Sample(
                TransferEngine.NETTY,
                100,
                20,
                new CpuTime(7, 0),
                new CpuTime(8, 0),
                true,
                Map.of()));
  }

  @Test
  void shouldCompareTheCpuTimeWithoutTheCompilers() {
    EngineShare served = new EngineShare.Served(TransferEngine.RDMA, 77, new CpuTime(9, 4), NONE);
    EngineShare fetched =
        new EngineShare.Fetched(TransferEngine.RDMA, 100, 10, 77, new CpuTime(7, 5), NONE);
    EngineShare servedByNetty =
        new EngineShare.Served(TransferEngine.NETTY, 78, new CpuTime(27, 2), NONE);
    RoundPair pair =
        RoundPair.of(4, List.of(servedByNetty, served, COPIED, fetchedByNetty(78), fetched));
    assertThat(pair.serverCpuRatioWithoutCompiler()).isCloseTo(0.2, within(1e-9));
    assertThat(pair.clientCpuRatioWithoutCompiler()).isCloseTo(0.25, within(1e-9));
  }

  @Test
  void shouldCompareCopiesOfTwoThreadsWithSparksOwnClient() {
    RoundPair pair =
        RoundPair.of(4, List.of(SERVED_BY_NETTY, SERVED, COPIED, fetchedByNetty(78), FETCHED));

    assertThat(pair.copiesThroughputRatio()).as("2 GB/s to 5 GB/s").isEqualTo(0.4);
    assertThat(pair.copiesClientCpuRatio()).as("0.75 s/GB to 0.08 s/GB").isEqualTo(0.75 / 0.08);
  }

  @Test
  void shouldReportBytesThatDifferFromThoseWritten() {
    List<EngineShare> shares =
        List.of(SERVED, COPIED, FETCHED, SERVED_BY_NETTY, fetchedByNetty(77));
    assertThat(RoundPair.of(4, shares).netty().intact()).isFalse();
  }

  @Test
  void shouldRefuseARoundWithoutTheMeasurementsOfOneExecutor() {
    List<EngineShare> shares = List.of(SERVED, FETCHED, SERVED_BY_NETTY);
    assertThatThrownBy(() -> RoundPair.of(4, shares))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("engine=NETTY type=Fetched count=0");
  }
}
