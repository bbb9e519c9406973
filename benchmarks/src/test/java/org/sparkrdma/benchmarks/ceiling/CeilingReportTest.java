// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.transfer.TransferEngine;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.TimeLeft;

class CeilingReportTest {
  private static final int BLOCKS = 1000;
  private static final int BLOCK_BYTES = 4 << 10;

  @Test
  void shouldLeaveOutTheThreadThatStandsForTheDevice() {
    CeilingCase one = CeilingCase.of(List.of(round(BLOCKS * (long) BLOCK_BYTES, 0)));
    assertThat(one.median(Figure.CLIENT_US)).isEqualTo(1.0);
    assertThat(one.median(Figure.BOTH_US)).isEqualTo(1.25);
    assertThat(one.median(Figure.AGENT_US)).isEqualTo(0.5);
    assertThat(one.median(Figure.AGENT_SHARE)).isEqualTo(0.5);
    assertThat(one.median(Figure.DEVICE_US)).isEqualTo(3.0);
    assertThat(one.median(Figure.JVM_US)).isEqualTo(0.65);
    assertThat(one.median(Figure.CLIENT_BYTES)).isEqualTo(100.0);
    assertThat(one.median(Figure.AGENT_BYTES)).isEqualTo(1.0);
    assertThat(one.median(Figure.CPU_RATIO)).isEqualTo(1.25 / 50);
    assertThat(one.median(Figure.BLOCKS_PER_CORE_SECOND)).isEqualTo(800_000);
    // 4096 * 8 bits in 0.5 us.
    assertThat(one.median(Figure.AGENT_LINK_GBIT_PER_SECOND))
        .isCloseTo(65.536, Offset.offset(1e-9));
  }

  @Test
  void shouldNameEachGoalAndMarkWhatIsComputed() {
    CeilingReport report =
        CeilingReport.of(
            "10us", 16, List.of(CeilingCase.of(List.of(round(BLOCKS * (long) BLOCK_BYTES, 0)))));
    assertThat(report.goals())
        .contains(
            "CPU us of both executors per 4 KiB block, 1 peer: 1.25, goal at most 1.5: reached",
            "bytes allocated by the agent per 4 KiB block, 1 peer: 1.00, goal at most 0.0: not"
                + " reached")
        .noneMatch(line -> line.contains("64 KiB"));
    assertThat(report.computed()).containsExactly("AGENT_LINK_GBIT_PER_SECOND");
    assertThat(CeilingTable.of(report)).contains("agent link is computed, not measured", "goals");
  }

  @Test
  void shouldEstimateTheTimeThatIsLeftAfterEachRound() {
    CeilingPlan plan = new CeilingPlan(List.of(4096, 65536), List.of(1), 1, 2, 1000, 1, 1, 1);
    AtomicLong nowNs = new AtomicLong();
    TimeLeft time = new TimeLeft(plan.allRounds(), nowNs::get);
    nowNs.set(TimeUnit.SECONDS.toNanos(7));
    time.onStepDone();
    assertThat(CeilingApplication.progress(plan, time, 4096, 1))
        .isEqualTo(new ProgressLine("blocks of 4 KiB, peers 1, about 35 s left", 1, 6, "rounds"));
  }

  @Test
  void shouldObjectWhenABlockCameAnotherWay() {
    assertThat(round(BLOCKS * (long) BLOCK_BYTES, 0).objection()).isEmpty();
    assertThat(round(BLOCKS * (long) BLOCK_BYTES - 1, 0).objection()).isPresent();
    assertThat(round(BLOCKS * (long) BLOCK_BYTES, 1).objection()).isPresent();
  }

  /**
   * 4 us of the client's process, 3 of them of its device, and 0.25 us of the server for each
   * block; 50 us with Spark's own client, without threads of the plug-in.
   */
  private static CeilingRound round(long rdmaBytes, long nettyRdmaBytes) {
    Map<ThreadRole, ThreadCost> client = new EnumMap<>(ThreadRole.class);
    client.put(ThreadRole.AGENT, new ThreadCost(500_000, 1_000));
    client.put(ThreadRole.TASK, new ThreadCost(100_000, 99_000));
    client.put(ThreadRole.DEVICE, new ThreadCost(3_000_000, 77_000));
    Map<ThreadRole, ThreadCost> idle = new EnumMap<>(ThreadRole.class);
    idle.put(ThreadRole.AGENT, new ThreadCost(300_000, 0));
    idle.put(ThreadRole.PLUGIN, new ThreadCost(100_000, 0));
    return CeilingRound.of(
        BLOCK_BYTES,
        1,
        List.of(
            fetched(TransferEngine.RDMA, rdmaBytes, new SideCost(4_000_000, client)),
            CeilingShare.served(TransferEngine.RDMA, new SideCost(250_000, Map.of())),
            fetched(TransferEngine.NETTY, nettyRdmaBytes, new SideCost(40_000_000, Map.of())),
            CeilingShare.served(TransferEngine.NETTY, new SideCost(10_400_000, idle))));
  }

  private static CeilingShare fetched(TransferEngine engine, long rdmaBytes, SideCost cost) {
    return CeilingShare.fetched(
        engine, BLOCKS, 1_000_000, cost, Map.of("rdma.bytes.read", rdmaBytes));
  }
}
