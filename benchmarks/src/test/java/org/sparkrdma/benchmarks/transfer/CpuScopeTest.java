// SPDX-License-Identifier: Apache-2.0
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
