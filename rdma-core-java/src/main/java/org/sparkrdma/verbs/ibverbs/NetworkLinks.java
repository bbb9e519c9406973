// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;

/**
 * Network interfaces of this host, as they are at each call; others in tests. Safe for any thread.
 *
 * @param directory with a folder for each interface, /sys/class/net
 * @param source lists the interfaces
 * @param inFirstNamespace whether they are in the first network namespace, that of the host
 */
record NetworkLinks(Path directory, Source source, boolean inFirstNamespace) {
  /**
   * A file that the kernel shows in the first network namespace only (net_core_table in
   * net/core/sysctl_net_core.c).
   */
  private static final String FILE_OF_FIRST_NAMESPACE = "proc/sys/net/core/netdev_max_backlog";

  private static final int GID_BYTES = 16;
  private static final int ETHERNET_BYTES = 6;
  private static final int INFINIBAND_BYTES = 20;

  /**
   * A network interface.
   *
   * @param name as in /sys/class/net
   * @param index number of the interface, which is the scope of its link-local addresses
   * @param addresses of the interface, in any order
   */
  record Link(String name, int index, List<InetAddress> addresses) {}

  /** Lists all interfaces. */
  @FunctionalInterface
  interface Source {
    List<Link> all() throws SocketException;
  }

  /**
   * Interfaces of the system, in the namespace to which the files below a root belong; another root
   * in tests.
   */
  static NetworkLinks ofSystem(Path root) {
    return new NetworkLinks(
        Path.of("/sys/class/net"),
        NetworkLinks::listAll,
        Files.exists(root.resolve(FILE_OF_FIRST_NAMESPACE)));
  }

  private static List<Link> listAll() throws SocketException {
    return NetworkInterface.networkInterfaces()
        .map(link -> new Link(link.getName(), link.getIndex(), link.inetAddresses().toList()))
        .toList();
  }

  /** All interfaces. */
  List<Link> all() throws VerbsException {
    try {
      return source.all();
    } catch (SocketException e) {
      throw new VerbsException("ibv_query_gid", "no addresses: " + e.getMessage(), e);
    }
  }

  /**
   * Addresses of a port whose GIDs are none: those of the network interfaces that belong to it. On
   * InfiniBand these are the IPoIB interfaces of all its partitions.
   *
   * @param gid the first of the port
   */
  List<InetAddress> ofPort(byte[] gid) throws VerbsException {
    List<InetAddress> addresses = new ArrayList<>();
    for (Link link : all()) {
      if (isMadeFrom(gid, hardwareAddress(link))) {
        for (InetAddress address : link.addresses()) {
          addresses.add(scoped(address, link.index()));
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
        return scoped(gid, link.index());
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

  /** The hardware address of an interface; empty when it has none. */
  private byte[] hardwareAddress(Link link) {
    try {
      Path address = directory.resolve(link.name()).resolve("address");
      String text = Files.readString(address, StandardCharsets.ISO_8859_1);
      return HexFormat.ofDelimiter(":").parseHex(text.trim());
    } catch (IOException | IllegalArgumentException e) {
      return new byte[0];
    }
  }

  /**
   * An address as the connection manager needs it: a link-local IPv6 address with the interface as
   * its scope, any other without a scope, which the JDK adds to every IPv6 address of an interface.
   */
  private static InetAddress scoped(InetAddress address, int index) throws VerbsException {
    try {
      return address instanceof Inet6Address && address.isLinkLocalAddress()
          ? Inet6Address.getByAddress(null, address.getAddress(), index)
          : InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new VerbsException("ibv_query_gid", "an address of a wrong length", e);
    }
  }
}
