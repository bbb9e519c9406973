// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.device.TransportType;

/** The ibverbs engine for the contract suite, on a device of the guest or on that of ./card. */
final class IbverbsUnderTest {
  /**
   * System calls in the guest, and registrations on a card, take many times as long as on a host.
   */
  private static final int SHORTER = 8;

  private IbverbsUnderTest() {}

  /** Uses the device that {@code ./card} names in variables of the environment. */
  static EngineUnderTest onCard() {
    String driver = System.getenv("CARD_DRIVER");
    String transport = System.getenv("CARD_TRANSPORT");
    if (driver == null || transport == null) {
      throw new IllegalStateException("run by ./card only, which sets CARD_DRIVER");
    }
    return on("CARD_ADDRESS", Deviation.ofDevice(driver, TransportType.valueOf(transport)));
  }

  /**
   * Uses the device whose addresses are in two variables of the environment.
   *
   * @param variable name of the variable with its address; the name of its IPv6 variable has a
   *     suffix 6
   */
  static EngineUnderTest on(String variable, Set<Deviation> deviations) {
    try {
      String address = System.getenv(variable);
      if (address == null) {
        throw new IllegalStateException(
            "runs in the guest or by ./card only, which set " + variable);
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
