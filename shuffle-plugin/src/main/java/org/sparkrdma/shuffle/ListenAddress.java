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
package org.sparkrdma.shuffle;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Collections;
import java.util.List;

/** Finds the address to listen on: a literal, an interface's or the first inside a network. */
final class ListenAddress {
  private ListenAddress() {}

  /**
   * @param wanted a literal address, the name of an interface, or a network as in {@code
   *     10.1.0.0/16}
   * @throws IOException when no address of this host is meant
   */
  static InetAddress find(String wanted) throws IOException {
    int slash = wanted.indexOf('/');
    for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
      List<InetAddress> addresses = Collections.list(network.getInetAddresses());
      if (network.getName().equals(wanted) && !addresses.isEmpty()) {
        return addresses.get(0);
      }
      for (InetAddress address : addresses) {
        if (slash >= 0 && isInside(address, wanted, slash)) {
          return address;
        }
      }
    }
    if (slash >= 0 || NetworkInterface.getByInetAddress(InetAddress.getByName(wanted)) == null) {
      throw new IOException("no address of this host: address=" + wanted);
    }
    return InetAddress.getByName(wanted);
  }

  private static boolean isInside(InetAddress address, String network, int slash)
      throws IOException {
    byte[] base = InetAddress.getByName(network.substring(0, slash)).getAddress();
    byte[] own = address.getAddress();
    int bits = Integer.parseInt(network.substring(slash + 1));
    if (base.length != own.length) {
      return false;
    }
    for (int bit = 0; bit < bits; bit++) {
      int mask = 0x80 >> (bit % 8);
      if ((base[bit / 8] & mask) != (own[bit / 8] & mask)) {
        return false;
      }
    }
    return true;
  }
}
