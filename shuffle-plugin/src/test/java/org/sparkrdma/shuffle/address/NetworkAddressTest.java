// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NetworkAddressTest {
  @Test
  void shouldKnowThePrefixOfAnAddressOfThisHost() throws Exception {
    assertThat(NetworkAddress.ofHost(InetAddress.getByAddress(new byte[] {127, 0, 0, 1})))
        .hasToString("127.0.0.1/8");
  }

  @Test
  void shouldShareNoSubnetWhenTheHostHasNoSuchAddress() throws Exception {
    // An address of a network that is reserved for documentation.
    assertThat(NetworkAddress.ofHost(InetAddress.getByName("192.0.2.1")))
        .hasToString("192.0.2.1/32");
  }

  @ParameterizedTest
  @CsvSource({"10.0.0.1, 33", "10.0.0.1, -1", "fd00::1, 129"})
  void shouldRefuseAPrefixLongerThanTheAddress(String address, int bits) throws Exception {
    InetAddress at = InetAddress.getByName(address);

    assertThatThrownBy(() -> new NetworkAddress(at, bits))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("prefixBits=" + bits);
  }

  @ParameterizedTest
  @CsvSource({"0.0.0.0, 1", "224.0.0.1, 1", "10.0.0.1, 0", "10.0.0.1, 65536", "'::', 1"})
  void shouldRefuseAListenerThatNoPeerCanReach(String address, int port) throws Exception {
    NetworkAddress network = NetworkAddress.withoutSubnet(InetAddress.getByName(address));

    assertThatThrownBy(() -> new ListenerAddress(network, port))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("port=" + port);
  }
}
