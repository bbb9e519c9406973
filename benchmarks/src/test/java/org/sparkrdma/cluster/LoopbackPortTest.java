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
    assertThat(LoopbackPort.claim(LoopbackPort.ANY, "the test")).isBetween(1_024, 65_535);
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
