// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.sparkrdma.benchmarks.tera.SortResult;
import org.sparkrdma.launch.LaunchException;

class RunReportTest {
  @Test
  void shouldTakeSparksCountAsTcpWhenThePlugInIsNotThere() throws LaunchException {
    RunReport run = RunReport.of(ShuffleMode.VANILLA, result(700, Map.of()), false);
    assertThat(run.bytes()).isEqualTo(new RunReport.Bytes(0, 700, 50));
    assertThat(run.fallbacks()).isEmpty();
    assertThat(run.executorCpuSeconds()).isEqualTo(3.5);
  }

  @Test
  void shouldTakeSparksCountAsTcpWhenSparksOwnReaderWasUsed() throws LaunchException {
    RunReport run =
        RunReport.of(ShuffleMode.FALLBACK, result(700, Map.of("fallback.unavailable", 8L)), false);
    assertThat(run.bytes()).isEqualTo(new RunReport.Bytes(0, 700, 50));
    assertThat(run.fallbacks()).containsExactly(Map.entry("unavailable", 8L));
  }

  @Test
  void shouldTakeThePlugInsCountsWhenTheyAddUpToSparks() throws LaunchException {
    RunReport run =
        RunReport.of(
            ShuffleMode.RDMA,
            result(
                700,
                Map.of(
                    "rdma.bytes.read", 600L,
                    "tcp.bytes.read", 100L,
                    "fallback.pool", 2L,
                    "fallback.timeout", 0L)),
            false);
    assertThat(run.bytes()).isEqualTo(new RunReport.Bytes(600, 100, 50));
    assertThat(run.fallbacks()).containsExactly(Map.entry("pool", 2L));
  }

  @Test
  void shouldRefuseCountsThatDoNotAddUpToSparks() {
    assertThatThrownBy(
            () ->
                RunReport.of(
                    ShuffleMode.RDMA,
                    result(700, Map.of("rdma.bytes.read", 600L, "tcp.bytes.read", 99L)),
                    false))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("rdma=600 tcp=99 spark=700");
  }

  @Test
  void shouldRefuseAnRdmaRunThatSilentlyUsedTcp() {
    assertThatThrownBy(
            () ->
                RunReport.of(ShuffleMode.RDMA, result(700, Map.of("tcp.bytes.read", 700L)), false))
        .isInstanceOf(LaunchException.class)
        .hasMessageContaining("read no byte by RDMA READ");
  }

  private static SortResult result(long remoteBytes, Map<String, Long> counters) {
    return new SortResult(9.5, 10, "ab", remoteBytes, 50, counters, Map.of("0", 1.5, "1", 2.0));
  }
}
