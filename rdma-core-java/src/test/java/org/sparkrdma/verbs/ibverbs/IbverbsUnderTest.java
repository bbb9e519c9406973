// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.Set;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.device.TransportType;

/** The ibverbs engine for the contract suite, on a device of the guest or on that of ./card. */
final class IbverbsUnderTest {
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

  /** Uses the device whose address is in that variable of the environment. */
  static EngineUnderTest on(String variable, Set<Deviation> deviations) {
    return EngineUnderTest.on("ibverbs", variable, deviations);
  }
}
