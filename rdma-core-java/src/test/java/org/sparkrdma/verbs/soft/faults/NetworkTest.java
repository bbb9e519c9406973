// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Due times of requests, with given times. */
class NetworkTest {
  private static Network network(long latencyNs, String faults) {
    return new Network(latencyNs, FaultPlan.parse(faults));
  }

  @Test
  void shouldExecuteAtOnceOnAPerfectNetwork() {
    assertThat(network(0, "").dueNs(true, 5)).isZero();
  }

  @Test
  void shouldAddTheLatencyToEachRequest() {
    Network network = network(100, "");
    assertThat(network.dueNs(true, 5)).isEqualTo(105);
    assertThat(network.dueNs(true, 6)).isEqualTo(106);
  }

  @Test
  void shouldDelayOrHangRequestsNamedByTheFaultPlan() {
    Network network = network(0, "delay@1:50ns,hang@2");
    assertThat(network.dueNs(true, 5)).isEqualTo(55);
    assertThat(network.dueNs(true, 5)).isEqualTo(Network.NEVER);
    assertThat(network.dueNs(true, 5)).isEqualTo(5);
  }
}
