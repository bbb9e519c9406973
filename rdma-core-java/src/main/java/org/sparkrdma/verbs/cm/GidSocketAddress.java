// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.cm;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * An address by a GID: of an InfiniBand port that has no IP address, in the family AF_IB of
 * rdma_cm(7). Only with {@link org.sparkrdma.verbs.device.Capability#GID_ADDRESSES}.
 *
 * <p>{@link #getAddress()} has the 16 bytes of the GID, as {@link
 * org.sparkrdma.verbs.device.Gid#address()} has. {@link #equals} is that of the superclass and
 * compares bytes and port only, not whether both are GIDs.
 */
public final class GidSocketAddress extends InetSocketAddress {
  private static final long serialVersionUID = 1;

  /**
   * An address of a listener or a connection.
   *
   * @param gid its 16 bytes as an IPv6 address; it has no scope
   * @param port 0 lets the system choose, as with an IP address
   * @throws IllegalArgumentException when a GID cannot be these bytes
   */
  public GidSocketAddress(InetAddress gid, int port) {
    super(gid, port);
    if (!isUnicast(gid)) {
      throw new IllegalArgumentException("not the GID of a port: bytes=" + gid.getHostAddress());
    }
  }

  /**
   * {@return whether a port can have this GID}
   *
   * @param gid its bytes as an address; an IPv4 address is the GID of a RoCE port
   */
  public static boolean isUnicast(InetAddress gid) {
    return gid instanceof Inet6Address
        && !gid.isMulticastAddress()
        && !gid.isAnyLocalAddress()
        && !gid.isLoopbackAddress();
  }

  @Override
  public String toString() {
    return "gid " + getAddress().getHostAddress() + ":" + getPort();
  }
}
