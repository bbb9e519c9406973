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
  /** System calls in the guest take many times as long as on the host. */
  private static final int SHORTER = 8;

  private IbverbsUnderTest() {}

  /**
   * Uses the device whose addresses are in two environment variables of the guest.
   *
   * @param variable name of the variable with its address; the name of its IPv6 variable has a
   *     suffix 6
   */
  static EngineUnderTest on(String variable, Set<Deviation> deviations) {
    try {
      String address = System.getenv(variable);
      if (address == null) {
        throw new IllegalStateException("runs in the guest only, which sets " + variable);
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
      throw new IllegalStateException("invalid address: variable=" + variable, e);
    }
  }
}
