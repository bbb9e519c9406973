// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.sparkrdma.verbs.cm.GidSocketAddress;
import org.sparkrdma.verbs.ibverbs.ffi.Layouts.SockaddrIb;

/**
 * Socket addresses as C structs: IPv4, IPv6, and AF_IB for GIDs.
 *
 * <p>In AF_IB the port is the last 16 bits of the service id, and those before it are the port
 * space. The kernel accepts an identifier of the port space RDMA_PS_TCP with this service id, and
 * writes the port that it chose into it (cma_select_ib_ps, cma_port and cma_bind_port in
 * drivers/infiniband/core/cma.c); so a peer needs GID and port only, as with IP. All bits of the
 * mask are set, since the port counts too; a port 0 still leaves the choice to the kernel.
 *
 * <p>The partition key is that of the default partition with full membership, 0xffff. The kernel
 * looks it up without the bit of the membership, so a port that is a limited member finds its entry
 * too (ib_find_cached_pkey in cache.c); two limited members cannot connect.
 */
public final class SocketAddresses {
  /** Bytes for any kind. */
  public static final int SIZE = SockaddrIb.SIZE;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int AF_IB = SockaddrIb.NUMBER_AF_IB;
  private static final int DEFAULT_PARTITION = 0xffff;
  private static final int GID_BYTES = 16;
  private static final int PORT_BITS = 0xffff;

  /** The kernel takes the traffic class of an AF_IB path from these bits (cma_query_ib_route). */
  private static final int TRAFFIC_CLASS_SHIFT = 20;

  private SocketAddresses() {}

  /** Writes a resolved address into zeroed memory. */
  public static void write(long at, InetSocketAddress address) {
    if (address instanceof GidSocketAddress) {
      writeGid(at, address);
      return;
    }
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

  private static void writeGid(long at, InetSocketAddress address) {
    Native.putShort(at + SockaddrIb.SIB_FAMILY, AF_IB);
    Native.putShort(at + SockaddrIb.SIB_PKEY, DEFAULT_PARTITION);
    putBytes(at + SockaddrIb.SIB_ADDR, address.getAddress().getAddress());
    long service = SockaddrIb.NUMBER_PS_TCP | address.getPort();
    Native.putLong(at + SockaddrIb.SIB_SID, Long.reverseBytes(service));
    Native.putLong(at + SockaddrIb.SIB_SID_MASK, ~0L);
  }

  private static void putBytes(long at, byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      Native.putByte(at + i, bytes[i]);
    }
  }

  /**
   * Gives a written source address the traffic class of its connections, where the kernel takes it
   * from there: in AF_IB. With IP addresses it takes it from an option.
   */
  public static void writeTrafficClass(long at, int trafficClass) {
    if (Native.getShort(at + SockaddrIb.SIB_FAMILY) == AF_IB) {
      int flow = trafficClass << TRAFFIC_CLASS_SHIFT;
      Native.putInt(at + SockaddrIb.SIB_FLOWINFO, Integer.reverseBytes(flow));
    }
  }

  /** Reads an address; null when it is none of these kinds. */
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
        case AF_IB -> readGid(at);
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

  /** Null when the bytes are no GID of a port: a peer's host names its own in a request. */
  private static InetSocketAddress readGid(long at) throws UnknownHostException {
    InetAddress gid = InetAddress.getByAddress(Native.bytes(at + SockaddrIb.SIB_ADDR, GID_BYTES));
    long service = Long.reverseBytes(Native.getLong(at + SockaddrIb.SIB_SID));
    return GidSocketAddress.isUnicast(gid)
        ? new GidSocketAddress(gid, (int) service & PORT_BITS)
        : null;
  }
}
