// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SampleCheckTest {
  @Test
  void shouldAcceptThePlugInsPartWhenAllBytesCameByRead() {
    assertThat(objection(TransferEngine.RDMA, true, Map.of("rdma.bytes.read", 100L))).isNull();
  }

  @Test
  void shouldAcceptSparksPartWhenNoneDid() {
    assertThat(objection(TransferEngine.NETTY, true, Map.of())).isNull();
  }

  @Test
  void shouldReportHowManyBytesAndWhyWhenSomeCameByTcp() {
    assertThat(
            objection(
                TransferEngine.RDMA,
                true,
                Map.of("rdma.bytes.read", 60L, "fallback.peer-busy", 5L)))
        .startsWith("60 of 100 bytes used RDMA READ, expected 100: engine=RDMA")
        .contains("fallback.peer-busy=5");
  }

  @Test
  void shouldObjectWhenSparksPartUsedRdma() {
    assertThat(objection(TransferEngine.NETTY, true, Map.of("rdma.bytes.read", 1L)))
        .startsWith("1 of 100 bytes");
  }

  @Test
  void shouldObjectToWrongBytes() {
    assertThat(objection(TransferEngine.NETTY, false, Map.of()))
        .isEqualTo("bytes read differ from bytes written: engine=NETTY");
  }

  private static String objection(
      TransferEngine engine, boolean intact, Map<String, Long> counters) {
    CpuTime cpu = new CpuTime(1, 0);
    Sample sample = new Sample(engine, 100, 1, cpu, cpu, intact, counters);
    return SampleCheck.objection(sample).orElse(null);
  }
}
