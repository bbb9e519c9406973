// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Arrays;

/**
 * An IP address and the prefix length of its subnet. Immutable.
 *
 * @param address of an interface; a link-local IPv6 address of this host has its scope
 * @param prefixBits length of the subnet's prefix, 0 to 32 or 0 to 128
 */
public record NetworkAddress(InetAddress address, int prefixBits) {
  /**
   * @throws IllegalArgumentException when the prefix is longer than the address
   */
  public NetworkAddress {
    if (prefixBits < 0 || prefixBits > bits(address)) {
      throw new IllegalArgumentException(
          "bad prefix length: address="
              + address.getHostAddress()
              + (" prefixBits=" + prefixBits)
              + (" allowed=0 to " + bits(address)));
    }
  }

  /** An IP address whose subnet is unknown: it shares a subnet with no other address. */
  public static NetworkAddress withoutSubnet(InetAddress address) {
    return new NetworkAddress(address, bits(address));
  }

  /** An IP address of this host, with the prefix length that its interface has. */
  public static NetworkAddress ofHost(InetAddress address) {
    try {
      NetworkInterface network = NetworkInterface.getByInetAddress(address);
      if (network != null) {
        for (InterfaceAddress own : network.getInterfaceAddresses()) {
          if (own.getAddress().equals(address)) {
            return new NetworkAddress(address, own.getNetworkPrefixLength());
          }
        }
      }
    } catch (SocketException e) {
      // The interface is gone. The address still works where routing allows it.
      return withoutSubnet(address);
    }
    return withoutSubnet(address);
  }

  /** Whether it belongs to one link; all links may have the same. */
  public boolean isLinkLocal() {
    return address.isLinkLocalAddress();
  }

  /** Whether each of two addresses is in the other's subnet, so that no router is needed. */
  public boolean isOnSubnetOf(NetworkAddress other) {
    return contains(other.address) && other.contains(address);
  }

  /** Whether a router may join two addresses: of one family, and neither of them of one link. */
  public boolean isRoutableTo(NetworkAddress other) {
    return address.getClass() == other.address.getClass() && !isLinkLocal() && !other.isLinkLocal();
  }

  /** Whether the address is in this subnet. */
  public boolean contains(InetAddress other) {
    byte[] own = address.getAddress();
    byte[] theirs = other.getAddress();
    if (own.length != theirs.length) {
      return false;
    }
    return Arrays.equals(masked(own), masked(theirs));
  }

  /** The subnet's bits, all others zero; two addresses of one subnet have the same. */
  public byte[] subnet() {
    return masked(address.getAddress());
  }

  /** The address with a port, as the connection manager takes it. */
  public InetSocketAddress socket(int port) {
    return new InetSocketAddress(address, port);
  }

  private byte[] masked(byte[] bytes) {
    for (int bit = prefixBits; bit < bytes.length * Byte.SIZE; bit++) {
      bytes[bit / Byte.SIZE] &= (byte) ~(0x80 >>> (bit % Byte.SIZE));
    }
    return bytes;
  }

  private static int bits(InetAddress address) {
    return address.getAddress().length * Byte.SIZE;
  }

  @Override
  public String toString() {
    return address.getHostAddress() + "/" + prefixBits;
  }

  /** The text of an address without its scope, which has a meaning on this host only. */
  public static String textForPeers(InetAddress address) {
    return address.getHostAddress().replaceFirst("%.*", "");
  }
}
