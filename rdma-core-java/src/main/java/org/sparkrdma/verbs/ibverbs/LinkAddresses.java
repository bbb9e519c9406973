// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.sparkrdma.verbs.VerbsException;

/**
 * IP addresses of a port whose GIDs are none: those of the network interfaces that belong to it. On
 * InfiniBand these are the IPoIB interfaces of all its partitions.
 */
final class LinkAddresses {
  private static final int GID_BYTES = 16;
  private static final int ETHERNET_BYTES = 6;
  private static final int INFINIBAND_BYTES = 20;

  private LinkAddresses() {}

  /**
   * Addresses without link-local ones, which need a scope.
   *
   * @param links the directory /sys/class/net; another one in tests
   * @param gid the first of the port
   */
  static List<InetAddress> of(Path links, byte[] gid) throws VerbsException {
    List<InetAddress> addresses = new ArrayList<>();
    try {
      for (NetworkInterface link : NetworkInterface.networkInterfaces().toList()) {
        if (isMadeFrom(gid, hardwareAddress(links.resolve(link.getName())))) {
          for (InetAddress at : link.inetAddresses().toList()) {
            if (!at.isLinkLocalAddress()) {
              // Without the scope that the JDK adds to every IPv6 address of an interface.
              addresses.add(InetAddress.getByAddress(at.getAddress()));
            }
          }
        }
      }
      return addresses;
    } catch (SocketException | UnknownHostException e) {
      throw new VerbsException("ibv_query_gid", "no addresses: " + e.getMessage(), e);
    }
  }

  private static byte[] hardwareAddress(Path link) {
    try {
      return HexFormat.ofDelimiter(":").parseHex(Files.readString(link.resolve("address")).trim());
    } catch (IOException | IllegalArgumentException e) {
      return new byte[0];
    }
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
