// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.NetworkLinks.Link;

/** The IP addresses of a port: those of the network interfaces that belong to it. Stateless. */
final class LinkAddresses {
  private static final int GID_BYTES = 16;
  private static final int ETHERNET_BYTES = 6;
  private static final int INFINIBAND_BYTES = 20;

  private LinkAddresses() {}

  /**
   * Addresses of a port whose GIDs are none. On InfiniBand these are the addresses of the IPoIB
   * interfaces of all its partitions.
   *
   * @param gid the first of the port
   */
  static List<InetAddress> ofPort(NetworkLinks links, byte[] gid) throws VerbsException {
    List<InetAddress> addresses = new ArrayList<>();
    for (Link link : links.all()) {
      if (isMadeFrom(gid, links.hardwareAddress(link))) {
        for (InetAddress address : link.addresses()) {
          addresses.add(NetworkLinks.scoped(address, link.index()));
        }
      }
    }
    return addresses;
  }

  /**
   * The address of this host that is a GID; null when there is none.
   *
   * @param index number of the interface that the GID belongs to; only of link-local addresses it
   *     matters, since other interfaces may have the same
   */
  static InetAddress ofGid(List<Link> links, InetAddress gid, int index) throws VerbsException {
    boolean scoped = gid instanceof Inet6Address && gid.isLinkLocalAddress();
    for (Link link : links) {
      if ((!scoped || link.index() == index) && link.addresses().contains(gid)) {
        return NetworkLinks.scoped(gid, link.index());
      }
    }
    return null;
  }

  /**
   * An iWARP GID begins with the hardware address. The hardware address of an InfiniBand interface
   * ends with the GID; before it are the number of a queue pair and flags, which differ between
   * partitions.
   */
  private static boolean isMadeFrom(byte[] gid, byte[] hardware) {
    int length = hardware.length;
    return gid.length == GID_BYTES
        && ((length == ETHERNET_BYTES && Arrays.equals(hardware, Arrays.copyOf(gid, length)))
            || (length == INFINIBAND_BYTES
                && Arrays.equals(gid, Arrays.copyOfRange(hardware, length - GID_BYTES, length))));
  }
}
