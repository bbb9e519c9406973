// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.jobs.MeasuredRun.PathTotals;
import org.sparkrdma.benchmarks.jobs.MeasuredRun.ShuffleReadTotals;
import org.sparkrdma.cluster.LaunchException;

class PathTotalsTest {
  @Test
  void shouldRefuseCountsThatDoNotAddUpToSparks() throws Exception {
    Map<String, Long> counters = Map.of("rdma.bytes.read", 600L, "tcp.bytes.read", 99L);
    assertThatThrownBy(() -> PathTotals.of(ShuffleMode.RDMA, counters, spark(700, 7), true))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("read=600 tcp=99 spark=700");
    assertThat(PathTotals.of(ShuffleMode.RDMA, counters, spark(700, 7), false).bytes().read())
        .isEqualTo(600);
  }

  /** A task with LIMIT ends before it has taken all blocks that were fetched for it. */
  @Test
  void shouldAllowAFewFetchedBytesThatNoTaskHasTaken() throws Exception {
    Map<String, Long> few = Map.of("rdma.bytes.read", 707L);
    assertThat(PathTotals.of(ShuffleMode.RDMA, few, spark(700, 7), true).bytes().read())
        .isEqualTo(707);
    Map<String, Long> many = Map.of("rdma.bytes.read", 708L);
    assertThatThrownBy(() -> PathTotals.of(ShuffleMode.RDMA, many, spark(700, 7), true))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("read=708 tcp=0 spark=700");
  }

  @Test
  void shouldRefuseAnRdmaRunThatSilentlyUsedTcp() {
    Map<String, Long> counters = Map.of("tcp.bytes.read", 700L, "fallback.refused", 3L);
    assertThatThrownBy(() -> PathTotals.of(ShuffleMode.RDMA, counters, spark(700, 7), true))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("no byte was read by RDMA READ")
        .hasMessageContaining("{refused=3}");
  }

  private static ShuffleReadTotals spark(long remoteBytes, long remoteBlocks) {
    TaskMetrics metrics = new TaskMetrics();
    metrics.shuffleReadMetrics().incRemoteBytesRead(remoteBytes);
    metrics.shuffleReadMetrics().incRemoteBlocksFetched(remoteBlocks);
    metrics.shuffleReadMetrics().incLocalBytesRead(50);
    metrics.shuffleReadMetrics().incLocalBlocksFetched(5);
    ShuffleReadTotals totals = new ShuffleReadTotals();
    totals.add(metrics.shuffleReadMetrics());
    return totals;
  }
}
