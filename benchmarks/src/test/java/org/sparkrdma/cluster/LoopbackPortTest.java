// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LoopbackPortTest {
  @Test
  void shouldGiveSomePortWhenAnyWillDo() throws ClusterException {
    assertThat(LoopbackPort.claim(LoopbackPort.ANY, "the test")).isBetween(1_024, 32_767);
  }

  @Test
  void shouldGiveTheWantedPortWhenItIsFree() throws ClusterException {
    int free = LoopbackPort.claim(LoopbackPort.ANY, "the test");
    assertThat(LoopbackPort.claim(free, "the test")).isEqualTo(free);
  }

  @Test
  void shouldNameThePortAndItsUseWhenItIsTaken() throws Exception {
    byte[] loopback = {127, 0, 0, 1};
    try (var taken = new ServerSocket(0, 1, InetAddress.getByAddress(loopback))) {
      assertThatThrownBy(() -> LoopbackPort.claim(taken.getLocalPort(), "the Master"))
          .isInstanceOf(ClusterException.class)
          .hasMessageStartingWith(
              "port " + taken.getLocalPort() + " for the Master is in use on 127.0.0.1");
    }
  }

  @Test
  void shouldRefuseAPortThatSparkRefuses() {
    assertThatThrownBy(() -> LoopbackPort.claim(80, "the Master"))
        .hasMessageContaining("port 80 for the Master is out of range");
  }
}
