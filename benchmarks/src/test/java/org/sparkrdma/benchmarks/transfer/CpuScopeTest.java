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

import org.junit.jupiter.api.Test;

final class CpuScopeTest {
  @Test
  void shouldCountAllTicksOfAMachineButThoseItWasIdle() {
    // user nice system idle iowait irq softirq steal guest guest_nice
    String stat = "cpu  1 2 3 1000 500 4 5 6 9 9\ncpu0 1 2 3 1000 500 4 5 6 9 9\n";
    assertThat(CpuScope.busyNs(stat)).isEqualTo((1 + 2 + 3 + 4 + 5 + 6) * 10_000_000L);
  }

  @Test
  void shouldSeeTheWorkOfItsOwnProcess() throws Exception {
    CpuScope.Usage used = CpuScope.PROCESS.begin();
    long sum = 0;
    for (int i = 0; i < 50_000_000; i++) {
      sum += i ^ (sum << 1);
    }
    assertThat(sum).isNotZero();
    assertThat(used.ns()).isPositive();
  }
}
