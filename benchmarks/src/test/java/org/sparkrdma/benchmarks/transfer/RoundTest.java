// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.transfer.Round.Engine;
import org.sparkrdma.benchmarks.transfer.Round.Share;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Kind;

class RoundTest {
  private static final int BLOCK_BYTES = 1_024;
  private static final int BLOCKS = 100;
  private static final long SUM = 77;
  private static final Map<String, Long> BY_READ =
      Map.of("rdma.bytes.read", (long) BLOCKS * BLOCK_BYTES);

  /** 1 to 100 us. */
  private static final List<Long> TIMES =
      LongStream.rangeClosed(1, 100).map(us -> us * 1_000).boxed().toList();

  private static Share served(Engine engine, long cpuNs) {
    return new Share(engine, true, new Round.Work(0, SUM, List.of()), 1, cpuNs, 0, 500, Map.of());
  }

  private static Share fetched(
      Engine engine, int blocks, long ns, long sum, long cpuNs, Map<String, Long> counters) {
    List<Long> times =
        engine == Engine.RDMA ? TIMES : TIMES.stream().map(each -> 2 * each).toList();
    Round.Work work = new Round.Work(blocks, sum, times);
    return new Share(engine, false, work, ns, cpuNs, 10_000, 5_000, counters);
  }

  private static Share netty(long sum) {
    return fetched(Engine.NETTY, BLOCKS, 200_000, sum, 60_000, Map.of());
  }

  private static Round round(Share rdma, Share netty) {
    return new Round(
        BLOCK_BYTES,
        BLOCKS,
        List.of(served(Engine.NETTY, 40_000), served(Engine.RDMA, 4_000), netty, rdma));
  }

  private static Round round(long rdmaSum, Map<String, Long> counters) {
    return round(fetched(Engine.RDMA, BLOCKS, 50_000, rdmaSum, 30_000, counters), netty(SUM));
  }

  @Test
  void shouldDivideTheThroughputAndTheCpuTimesOfBothEngines() {
    Map<String, Double> figures = round(SUM, BY_READ).figures(Kind.THROUGHPUT);
    assertThat(figures).contains(entry("throughput", 4.0), entry("clientCpu", 0.5));
    assertThat(figures.get("serverCpu")).isCloseTo(0.1, within(1e-9));
    assertThat(figures.get("rdmaGbPerSecond")).isEqualTo(BLOCKS * BLOCK_BYTES / 50_000.0);
  }

  @Test
  void shouldTakePercentilesByNearestRankAndAllocationsWithoutTheDevice() {
    assertThat(round(SUM, BY_READ).figures(Kind.LATENCY))
        .contains(
            entry("rdmaP50Us", 50.0),
            entry("rdmaP99Us", 99.0),
            entry("p50", 0.5),
            entry("p99", 0.5),
            entry("rdmaBytesPerBlock", 50.0));
  }

  @Test
  void shouldTakePooledPercentilesOfAllRequestsAndNotOfTheRounds() {
    Share slow =
        new Share(
            Engine.RDMA,
            false,
            new Round.Work(BLOCKS, SUM, List.of(9_000_000L, 9_000_000L)),
            1,
            1,
            0,
            1,
            BY_READ);
    List<Round> rounds = List.of(round(SUM, BY_READ), round(slow, netty(SUM)));
    assertThat(Round.percentiles(rounds, true))
        .contains(
            entry("rdmaPooledP50Us", 51.0),
            entry("rdmaPooledP99Us", 9_000.0),
            entry("nettyPooledP99Us", 198.0),
            entry("pooledP50", 0.51));
  }

  @Test
  void shouldAcceptARoundWhoseBytesCameByReadForThePlugInOnly() {
    for (Kind kind : Kind.values()) {
      assertThat(round(SUM, BY_READ).objection(kind, false)).isEmpty();
    }
  }

  @Test
  void shouldObjectToWrongBytes() {
    assertThat(round(SUM + 1, BY_READ).objection(Kind.THROUGHPUT, false))
        .hasValue("bytes read differ from bytes written: engine=rdma");
    Share right = fetched(Engine.RDMA, BLOCKS, 1, SUM, 1, BY_READ);
    assertThat(round(right, netty(SUM + 1)).objection(Kind.LATENCY, false))
        .hasValue("bytes read differ from bytes written: engine=netty");
  }

  @Test
  void shouldObjectToBytesThatCameAnotherWay() {
    Map<String, Long> some = Map.of("rdma.bytes.read", 1L, "fallback.peer-busy", 5L);
    assertThat(round(SUM, some).objection(Kind.THROUGHPUT, false).orElseThrow())
        .startsWith("1 of 102400 bytes used RDMA READ, expected 102400: engine=rdma")
        .contains("fallback.peer-busy=5");
    assertThat(round(SUM, some).objection(Kind.THROUGHPUT, true)).as("of copies").isPresent();
    Map<String, Long> most = Map.of("rdma.bytes.read", 100_000L);
    assertThat(round(SUM, most).objection(Kind.THROUGHPUT, true)).as("of copies").isEmpty();
    assertThat(round(SUM, most).objection(Kind.LATENCY, true)).as("one at a time").isPresent();
    Share byRead = fetched(Engine.NETTY, BLOCKS, 1, SUM, 1, BY_READ);
    Share right = fetched(Engine.RDMA, BLOCKS, 1, SUM, 1, BY_READ);
    assertThat(round(right, byRead).objection(Kind.CEILING, false).orElseThrow())
        .startsWith("102400 of 102400 bytes used RDMA READ, expected 0: engine=netty");
  }

  @Test
  void shouldObjectToAnotherNumberOfBlocks() {
    Share fewer = fetched(Engine.RDMA, BLOCKS - 1, 1, SUM, 1, BY_READ);
    assertThat(round(fewer, netty(SUM)).objection(Kind.LATENCY, false))
        .hasValue("99 blocks instead of 100: engine=rdma");
  }
}
