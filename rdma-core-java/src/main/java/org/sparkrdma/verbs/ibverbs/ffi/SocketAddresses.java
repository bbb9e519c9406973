// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Socket addresses as C structs, IPv4 and IPv6. */
public final class SocketAddresses {
  /** Bytes for either kind. */
  public static final int SIZE = Layouts.SockaddrIn6.SIZE;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;

  private SocketAddresses() {}

  /** Writes a resolved address into zeroed memory. */
  public static void write(long at, InetSocketAddress address) {
    InetAddress ip = address.getAddress();
    int port = address.getPort();
    Memory.putByte(at + Layouts.SockaddrIn.SIN_PORT, port >>> 8);
    Memory.putByte(at + Layouts.SockaddrIn.SIN_PORT + 1, port);
    boolean four = ip instanceof Inet4Address;
    Memory.putShort(at + Layouts.SockaddrIn.SIN_FAMILY, four ? AF_INET : AF_INET6);
    byte[] bytes = ip.getAddress();
    int offset = four ? Layouts.SockaddrIn.SIN_ADDR : Layouts.SockaddrIn6.SIN6_ADDR;
    for (int i = 0; i < bytes.length; i++) {
      Memory.putByte(at + offset + i, bytes[i]);
    }
    if (ip instanceof Inet6Address six) {
      Memory.putInt(at + Layouts.SockaddrIn6.SIN6_SCOPE_ID, six.getScopeId());
    }
  }

  /** Reads an address; null when it is no IP address. */
  public static InetSocketAddress read(long at) {
    int port =
        Memory.getByte(at + Layouts.SockaddrIn.SIN_PORT) << 8
            | Memory.getByte(at + Layouts.SockaddrIn.SIN_PORT + 1);
    try {
      return switch (Memory.getShort(at + Layouts.SockaddrIn.SIN_FAMILY)) {
        case AF_INET ->
            new InetSocketAddress(
                InetAddress.getByAddress(Memory.bytes(at + Layouts.SockaddrIn.SIN_ADDR, 4)), port);
        case AF_INET6 -> new InetSocketAddress(readSix(at), port);
        default -> null;
      };
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of a wrong length", e);
    }
  }

  private static InetAddress readSix(long at) throws UnknownHostException {
    byte[] bytes = Memory.bytes(at + Layouts.SockaddrIn6.SIN6_ADDR, 16);
    int scope = Memory.getInt(at + Layouts.SockaddrIn6.SIN6_SCOPE_ID);
    return scope == 0
        ? InetAddress.getByAddress(bytes)
        : Inet6Address.getByAddress(null, bytes, scope);
  }
}
