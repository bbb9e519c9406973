// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/** Whether this host has Spark's own address, by which an executor chooses its device. */
final class SparkAddressCheck implements Check {
  @Override
  public String name() {
    return "spark address";
  }

  @Override
  public List<Finding> run(Facts facts) {
    return facts
        .sparkHost()
        .filter(address -> !isOfThisHost(address))
        .map(
            address ->
                List.of(
                    Finding.warning(
                        address.getHostAddress()
                            + ", assumed to be Spark's own address, is not an address of this host.",
                        "run this on the host that has it, give an address of this host with"
                            + " --host, or correct SPARK_LOCAL_IP or the address of the host's name")))
        .orElse(List.of());
  }

  private static boolean isOfThisHost(InetAddress address) {
    try {
      // All of 127.0.0.0/8 works, although an interface has one of them only.
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      // The interfaces cannot be listed; then nothing is known against the address.
      return true;
    }
  }
}
