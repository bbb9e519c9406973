// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The address that Spark's own block transfer uses on this machine, by the rules of Spark's {@code
 * Utils.findLocalInetAddress}: SPARK_LOCAL_IP, else the address of the host's name unless that is a
 * loopback address, else one of an interface.
 */
public final class SparkHost {
  private SparkHost() {}

  /** Finds the address. */
  public static InetAddress find(Map<String, String> environment) throws UnknownHostException {
    String set = environment.getOrDefault("SPARK_LOCAL_IP", "");
    if (!set.isEmpty()) {
      return InetAddress.getByName(set);
    }
    InetAddress named;
    try {
      named = InetAddress.getLocalHost();
    } catch (UnknownHostException e) {
      named = InetAddress.getLoopbackAddress();
    }
    return named.isLoopbackAddress() ? ofInterfaces(addresses()).orElse(named) : named;
  }

  /** The addresses of each interface, in the order of the JDK; empty when it cannot list them. */
  private static List<List<InetAddress>> addresses() {
    try {
      return NetworkInterface.networkInterfaces()
          .map(network -> network.inetAddresses().toList())
          .toList();
    } catch (SocketException e) {
      return List.of();
    }
  }

  /**
   * The address that Spark takes of these: of the last interface that has one, IPv4 first. The JDK
   * lists interfaces in the reverse order of their indexes on Linux.
   *
   * @param interfaces the addresses of each, in the order of the JDK
   */
  static Optional<InetAddress> ofInterfaces(List<List<InetAddress>> interfaces) {
    for (int i = interfaces.size() - 1; i >= 0; i--) {
      Optional<InetAddress> found =
          interfaces.get(i).stream()
              .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
              .min(Comparator.comparing(address -> !(address instanceof Inet4Address)));
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }
}
