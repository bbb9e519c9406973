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

import java.util.Map;
import org.junit.jupiter.api.Test;

class ReadProofTest {
  @Test
  void shouldAcceptThePlugInsPartWhenAllBytesCameByRead() {
    assertThat(objection(TransferEngine.RDMA, true, Map.of("rdma.bytes.read", 100L))).isNull();
  }

  @Test
  void shouldAcceptSparksPartWhenNoneDid() {
    assertThat(objection(TransferEngine.NETTY, true, Map.of())).isNull();
  }

  @Test
  void shouldSayHowManyBytesAndWhyWhenSomeCameByTcp() {
    assertThat(
            objection(
                TransferEngine.RDMA,
                true,
                Map.of("rdma.bytes.read", 60L, "fallback.peer-busy", 5L)))
        .startsWith("60 of 100 bytes came by RDMA READ where 100 should have: engine=RDMA")
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
        .isEqualTo("other bytes came than were written: engine=NETTY");
  }

  private static String objection(
      TransferEngine engine, boolean intact, Map<String, Long> counters) {
    return ReadProof.objection(new Sample(engine, 100, 1, 1, 1, intact, counters)).orElse(null);
  }
}
