// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.InterfaceAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Arrays;
import org.sparkrdma.verbs.cm.GidSocketAddress;

/**
 * An IP address and the prefix length of its subnet, or a GID of an InfiniBand port without an IP
 * address: 16 bytes, of which the first 8 are the prefix of its subnet. Immutable.
 *
 * @param address of an interface, or the bytes of the GID; a link-local IPv6 address of this host
 *     has its scope
 * @param prefixBits length of the subnet's prefix, 0 to 32 or 0 to 128
 * @param kind whether it is a GID
 */
public record NetworkAddress(InetAddress address, int prefixBits, Kind kind) {
  private static final int GID_PREFIX_BITS = 64;

  /** Addresses of different kinds share no subnet. */
  public enum Kind {
    /** An IPv4 or IPv6 address. */
    IP,
    /** A GID. */
    GID
  }

  /**
   * @throws IllegalArgumentException when the prefix is longer than the address, or the bytes are
   *     no GID
   */
  public NetworkAddress {
    if (prefixBits < 0 || prefixBits > bits(address)) {
      throw new IllegalArgumentException(
          "bad prefix length: address="
              + address.getHostAddress()
              + (" prefixBits=" + prefixBits)
              + (" allowed=0 to " + bits(address)));
    }
    if (kind == Kind.GID
        && (prefixBits != GID_PREFIX_BITS || !GidSocketAddress.isUnicast(address))) {
      throw new IllegalArgumentException(
          "bad GID: bytes=" + address.getHostAddress() + " prefixBits=" + prefixBits);
    }
  }

  /** An IP address. */
  public NetworkAddress(InetAddress address, int prefixBits) {
    this(address, prefixBits, Kind.IP);
  }

  /** An IP address whose subnet is unknown: it shares a subnet with no other address. */
  public static NetworkAddress withoutSubnet(InetAddress address) {
    return new NetworkAddress(address, bits(address));
  }

  /**
   * A GID of an InfiniBand port.
   *
   * @param gid its bytes
   * @throws IllegalArgumentException when no port can have these bytes
   */
  public static NetworkAddress ofGid(InetAddress gid) {
    return new NetworkAddress(gid, GID_PREFIX_BITS, Kind.GID);
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

  public boolean isGid() {
    return kind == Kind.GID;
  }

  /**
   * Whether it is an IP address that belongs to one link, which all links may have. The default
   * prefix of GIDs, fe80::/64, looks like it, but is that of a whole fabric.
   */
  public boolean isLinkLocal() {
    return kind == Kind.IP && address.isLinkLocalAddress();
  }

  /** Whether each of two addresses is in the other's subnet, so that no router is needed. */
  public boolean isOnSubnetOf(NetworkAddress other) {
    return kind == other.kind && contains(other.address) && other.contains(address);
  }

  /** Whether a router may join two addresses: of one family, and neither of them of one link. */
  public boolean isRoutableTo(NetworkAddress other) {
    return kind == Kind.IP
        && other.kind == Kind.IP
        && address.getClass() == other.address.getClass()
        && !isLinkLocal()
        && !other.isLinkLocal();
  }

  /** Whether the address, of the same kind, is in this subnet. */
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
    return kind == Kind.GID
        ? new GidSocketAddress(address, port)
        : new InetSocketAddress(address, port);
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
    return (isGid() ? "gid " : "") + address.getHostAddress() + "/" + prefixBits;
  }
}
