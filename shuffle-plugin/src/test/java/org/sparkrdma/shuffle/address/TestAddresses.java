// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Addresses for endpoints in tests. */
public final class TestAddresses {
  private TestAddresses() {}

  /** One listener on a literal address of an unknown subnet. */
  public static List<ListenerAddress> listener(String address, int port) {
    try {
      NetworkAddress network = NetworkAddress.withoutSubnet(InetAddress.getByName(address));
      return List.of(new ListenerAddress(network, port));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("not an address: " + address, e);
    }
  }
}
