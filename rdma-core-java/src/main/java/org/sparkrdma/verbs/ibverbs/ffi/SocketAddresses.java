// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/** Socket addresses of IPv4 and IPv6 as C structs. */
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
    Native.putByte(at + Layouts.SockaddrIn.SIN_PORT, port >>> 8);
    Native.putByte(at + Layouts.SockaddrIn.SIN_PORT + 1, port);
    boolean four = ip instanceof Inet4Address;
    Native.putShort(at + Layouts.SockaddrIn.SIN_FAMILY, four ? AF_INET : AF_INET6);
    putBytes(
        at + (four ? Layouts.SockaddrIn.SIN_ADDR : Layouts.SockaddrIn6.SIN6_ADDR), ip.getAddress());
    if (ip instanceof Inet6Address six) {
      Native.putInt(at + Layouts.SockaddrIn6.SIN6_SCOPE_ID, six.getScopeId());
    }
  }

  private static void putBytes(long at, byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      Native.putByte(at + i, bytes[i]);
    }
  }

  /** Reads an address; null when it is neither. */
  public static InetSocketAddress read(long at) {
    int port =
        Native.getByte(at + Layouts.SockaddrIn.SIN_PORT) << 8
            | Native.getByte(at + Layouts.SockaddrIn.SIN_PORT + 1);
    try {
      return switch (Native.getShort(at + Layouts.SockaddrIn.SIN_FAMILY)) {
        case AF_INET ->
            new InetSocketAddress(
                InetAddress.getByAddress(Native.bytes(at + Layouts.SockaddrIn.SIN_ADDR, 4)), port);
        case AF_INET6 -> new InetSocketAddress(readSix(at), port);
        default -> null;
      };
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of a wrong length", e);
    }
  }

  private static InetAddress readSix(long at) throws UnknownHostException {
    byte[] bytes = Native.bytes(at + Layouts.SockaddrIn6.SIN6_ADDR, 16);
    int scope = Native.getInt(at + Layouts.SockaddrIn6.SIN6_SCOPE_ID);
    return scope == 0
        ? InetAddress.getByAddress(bytes)
        : Inet6Address.getByAddress(null, bytes, scope);
  }
}
