// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.junit.jupiter.api.Assumptions.abort;

import java.util.HashSet;
import java.util.Set;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.spi.EngineSettings;

/** The DiSNI engine for the contract suite, on a device of the guest. */
final class DisniUnderTest {
  private static final String UNAVAILABLE = openDevicesOnce();

  private DisniUnderTest() {}

  /**
   * Returns the reason why the engine cannot run here. Where it can, opens its devices once:
   * librdmacm keeps them open until the process ends, which is no leak of a test.
   */
  private static String openDevicesOnce() {
    Verbs.Choice choice = Verbs.choose(DisniProvider.NAME, EngineSettings.none());
    try (VerbsEngine engine = choice.engine()) {
      if (engine == null) {
        return String.join("; ", choice.reasons());
      }
      for (DeviceInfo device : engine.devices()) {
        engine.open(device.name());
      }
      return "";
    } catch (VerbsException e) {
      return e.getMessage();
    }
  }

  /**
   * Uses the device whose address is in that environment variable of the guest. Aborts the test,
   * with the reason, where the engine cannot run.
   */
  static EngineUnderTest on(String variable, Set<Deviation> ofTransport) {
    if (!UNAVAILABLE.isEmpty()) {
      return abort(UNAVAILABLE);
    }
    Set<Deviation> deviations = new HashSet<>(ofTransport);
    deviations.addAll(Deviation.OF_DISNI);
    return EngineUnderTest.on(DisniProvider.NAME, variable, deviations);
  }
}
