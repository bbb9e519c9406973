// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

/**
 * Address of a listener that the directory gives to peers. Immutable.
 *
 * @param network address and prefix length of its subnet
 * @param port of the listener, 1 to 65535
 */
public record ListenerAddress(NetworkAddress network, int port) {
  private static final int MAX_PORT = 65_535;

  /**
   * @throws IllegalArgumentException when no peer could connect there
   */
  public ListenerAddress {
    if (port < 1
        || port > MAX_PORT
        || network.address().isAnyLocalAddress()
        || network.address().isMulticastAddress()) {
      throw new IllegalArgumentException("bad listener address: " + network + " port=" + port);
    }
  }

  @Override
  public String toString() {
    return network + ":" + port;
  }
}
