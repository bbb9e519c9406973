// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.Map;

/**
 * The address that Spark's own block transfer uses on this machine, by the rules of Spark's {@code
 * Utils.findLocalInetAddress}: SPARK_LOCAL_IP, else the address of the host's name unless that is a
 * loopback address, else one of an interface, IPv4 first.
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
    return named.isLoopbackAddress() ? ofInterface(named) : named;
  }

  private static InetAddress ofInterface(InetAddress fallback) {
    try {
      return NetworkInterface.networkInterfaces()
          .sorted(Comparator.comparing(NetworkInterface::getIndex).reversed())
          .flatMap(NetworkInterface::inetAddresses)
          .filter(address -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
          .min(Comparator.comparing(address -> !(address instanceof Inet4Address)))
          .orElse(fallback);
    } catch (SocketException e) {
      return fallback;
    }
  }
}
