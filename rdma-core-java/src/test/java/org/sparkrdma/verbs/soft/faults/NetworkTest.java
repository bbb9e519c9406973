// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Due times of requests, with given times. */
class NetworkTest {
  private static Network network(long latencyNs, long bytesPerSecond, String faults) {
    return new Network(latencyNs, bytesPerSecond, FaultPlan.parse(faults));
  }

  @Test
  void shouldExecuteAtOnceOnAPerfectNetwork() {
    assertThat(network(0, 0, "").dueNs(true, 1000, 5)).isZero();
  }

  @Test
  void shouldAddTheLatencyToEachRequest() {
    Network network = network(100, 0, "");
    assertThat(network.dueNs(true, 1000, 5)).isEqualTo(105);
    assertThat(network.dueNs(true, 1000, 6)).isEqualTo(106);
  }

  @Test
  void shouldShareTheBandwidthInOrder() {
    Network network = network(100, 1_000_000_000, "");
    assertThat(network.dueNs(true, 1000, 0)).isEqualTo(1100);
    assertThat(network.dueNs(true, 1000, 0)).isEqualTo(2100);
    assertThat(network.dueNs(true, 1000, 10_000)).isEqualTo(11_100);
  }

  @Test
  void shouldWorkWithTimesBelowZero() {
    Network network = network(0, 1_000_000_000, "");
    long start = Long.MAX_VALUE - 500;
    assertThat(network.dueNs(true, 1000, start)).isEqualTo(start + 1000);
    assertThat(network.dueNs(true, 1000, start)).isEqualTo(start + 2000);
  }

  @Test
  void shouldDelayOrHangRequestsNamedByTheFaultPlan() {
    Network network = network(0, 0, "delay@1:50ns,hang@2");
    assertThat(network.dueNs(true, 1, 5)).isEqualTo(55);
    assertThat(network.dueNs(true, 1, 5)).isEqualTo(Network.NEVER);
    assertThat(network.dueNs(true, 1, 5)).isEqualTo(5);
  }
}
