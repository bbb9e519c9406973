// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;

/** The ibverbs engine for the contract suite, on a device of the guest. */
final class IbverbsUnderTest {
  /** A system call in the guest costs many times what it costs on the host. */
  private static final int SHORTER = 8;

  private IbverbsUnderTest() {}

  /**
   * On the device that the guest names by two variables of the environment.
   *
   * @param variable that of its address; that of its IPv6 address has a 6 behind
   */
  static EngineUnderTest on(String variable, Set<Deviation> deviations) {
    try {
      String address = System.getenv(variable);
      if (address == null) {
        throw new IllegalStateException("to be run in the guest: it sets " + variable);
      }
      String six = System.getenv(variable + "6");
      return new EngineUnderTest(
          "ibverbs",
          Map.of(),
          InetAddress.getByName(address),
          six == null ? null : InetAddress.getByName(six),
          Path.of("/dev/infiniband"),
          Map.of(),
          SHORTER,
          deviations);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("not an address: variable=" + variable, e);
    }
  }
}
