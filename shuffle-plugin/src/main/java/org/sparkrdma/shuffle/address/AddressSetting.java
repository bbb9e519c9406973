// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;

/**
 * The addresses that the setting {@code address} selects: one address, those of an interface, or
 * those of a network.
 */
final class AddressSetting {
  private AddressSetting() {}

  /**
   * @param text a literal address, the name of an interface, or a network as in {@code 10.1.0.0/16}
   * @throws IOException when it is none of these
   */
  static Predicate<InetAddress> of(String text) throws IOException {
    int slash = text.indexOf('/');
    if (slash >= 0) {
      return network(text, slash);
    }
    NetworkInterface network = NetworkInterface.getByName(text);
    if (network != null) {
      List<InetAddress> own = Collections.list(network.getInetAddresses());
      return own::contains;
    }
    try {
      return InetAddress.getByName(text)::equals;
    } catch (UnknownHostException e) {
      throw new IOException("neither an address, nor an interface of this host, nor a network", e);
    }
  }

  private static Predicate<InetAddress> network(String text, int slash) throws IOException {
    try {
      InetAddress base = InetAddress.getByName(text.substring(0, slash));
      return new NetworkAddress(base, Integer.parseInt(text.substring(slash + 1)))::contains;
    } catch (UnknownHostException | IllegalArgumentException e) {
      throw new IOException("not a network: " + e.getMessage(), e);
    }
  }
}
