// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import org.sparkrdma.verbs.device.GidType;

/**
 * Network interfaces of this host, as they are at each call; others in tests. Safe for any thread.
 *
 * @param root of the file system with /sys
 * @param source lists the interfaces
 */
public record NetworkLinks(Path root, Supplier<List<Link>> source) {
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
  public record Link(String name, int index, List<InetAddress> addresses) {}

  /** Interfaces of the system, with the files below a root; another root in tests. */
  public static NetworkLinks ofSystem(Path root) {
    return new NetworkLinks(root, NetworkLinks::listAll);
  }

  private static List<Link> listAll() {
    try {
      return NetworkInterface.networkInterfaces()
          .map(link -> new Link(link.getName(), link.getIndex(), link.inetAddresses().toList()))
          .toList();
    } catch (SocketException e) {
      // A system without interfaces.
      return List.of();
    }
  }

  /** The folder of a port in /sys/class/infiniband. */
  public Path port(String device, int number) {
    return root.resolve("sys/class/infiniband/" + device + "/ports/" + number);
  }

  /**
   * Name of the kernel's driver of a device's bus, such as mlx5_core; empty where it is not seen.
   */
  public String driver(String device) {
    try {
      Path driver = root.resolve("sys/class/infiniband/" + device + "/device/driver");
      return String.valueOf(Files.readSymbolicLink(driver).getFileName());
    } catch (IOException e) {
      return "";
    }
  }

  /**
   * Addresses of this host that the connection manager reaches by a port, link-local ones last.
   * With RoCE these are the GIDs that are addresses of this host; otherwise those of the network
   * interfaces that belong to the first GID, on InfiniBand the IPoIB interfaces of all partitions.
   *
   * @param gids of the port
   */
  public List<InetAddress> addresses(List<SystemGid> gids) {
    List<InetAddress> found = new ArrayList<>();
    List<Link> links = source.get();
    for (SystemGid gid : gids) {
      boolean isAddress =
          gid.gid().type() == GidType.ROCE_V1 || gid.gid().type() == GidType.ROCE_V2;
      for (Link link : links) {
        if (isAddress) {
          link.addresses().stream()
              .filter(address -> isOn(gid, link, address))
              .forEach(address -> found.add(scoped(address, link)));
        } else if (gid.equals(gids.get(0)) && isMadeFrom(gid, hardwareAddress(link))) {
          link.addresses().forEach(address -> found.add(scoped(address, link)));
        }
      }
    }
    return found.stream()
        .distinct()
        .sorted(Comparator.comparing(InetAddress::isLinkLocalAddress))
        .toList();
  }

  /**
   * Whether an address of an interface is this GID. The interface of the GID matters only for
   * link-local addresses, since other interfaces may have the same.
   */
  private static boolean isOn(SystemGid gid, Link link, InetAddress address) {
    return address.equals(gid.gid().address())
        && (!isScoped(address) || link.name().equals(gid.link()));
  }

  /**
   * An iWARP GID begins with the hardware address. The hardware address of an InfiniBand interface
   * ends with the GID; before it are the number of a queue pair and flags, which differ between
   * partitions.
   */
  private static boolean isMadeFrom(SystemGid entry, byte[] hardware) {
    byte[] gid = entry.gid().address().getAddress();
    int length = hardware.length;
    return gid.length == GID_BYTES
        && ((length == ETHERNET_BYTES && Arrays.equals(hardware, Arrays.copyOf(gid, length)))
            || (length == INFINIBAND_BYTES
                && Arrays.equals(gid, Arrays.copyOfRange(hardware, length - GID_BYTES, length))));
  }

  /** The hardware address of an interface; empty when it has none. */
  private byte[] hardwareAddress(Link link) {
    try {
      String text = SystemGid.read(root.resolve("sys/class/net/" + link.name() + "/address"));
      return HexFormat.ofDelimiter(":").parseHex(text);
    } catch (IllegalArgumentException e) {
      return new byte[0];
    }
  }

  private static boolean isScoped(InetAddress address) {
    return address instanceof Inet6Address && address.isLinkLocalAddress();
  }

  /**
   * An address as the connection manager needs it: a link-local IPv6 address with the interface as
   * its scope, any other without a scope, which the JDK adds to every IPv6 address of an interface.
   */
  private static InetAddress scoped(InetAddress address, Link link) {
    try {
      return isScoped(address)
          ? Inet6Address.getByAddress(null, address.getAddress(), link.index())
          : InetAddress.getByAddress(address.getAddress());
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("an address of a wrong length", e);
    }
  }
}
