// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.junit.jupiter.api.Assumptions.abort;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
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
  /** A system call in the guest costs many times what it costs on the host. */
  private static final int SHORTER = 8;

  private static final String UNAVAILABLE = tryOut();

  private DisniUnderTest() {}

  /**
   * Why the engine cannot run here. Where it can, its devices are opened once: the connection
   * manager's library keeps them open for the process, which is no leak of a test.
   */
  private static String tryOut() {
    Verbs.Choice choice = Verbs.choose(DisniSettings.NAME, EngineSettings.none());
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
   * On the device that the guest names by a variable of the environment. Aborts the test, and says
   * why, where the engine cannot run.
   */
  static EngineUnderTest on(String variable, Set<Deviation> ofTransport) {
    if (!UNAVAILABLE.isEmpty()) {
      return abort(UNAVAILABLE);
    }
    String address = System.getenv(variable);
    if (address == null) {
      return abort("to be run in the guest: it sets " + variable);
    }
    Set<Deviation> deviations = new HashSet<>(ofTransport);
    deviations.addAll(Deviation.OF_DISNI);
    try {
      return new EngineUnderTest(
          DisniSettings.NAME,
          Map.of(),
          InetAddress.getByName(address),
          null,
          Path.of("/dev/infiniband"),
          Map.of(),
          SHORTER,
          deviations);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("not an address: variable=" + variable, e);
    }
  }
}
