// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The engine of the tests: the loopback engine, or the one that the property {@code test.engine}
 * names, on the only device of a guest. With {@code soft-limited} it is the loopback engine as a
 * {@link LimitedEngine}.
 */
public final class TestEngine {
  private static final String SOFT = "soft";
  private static final String SOFT_LIMITED = "soft-limited";
  private static final String NAME = System.getProperty("test.engine", SOFT);

  private TestEngine() {}

  public static boolean isSoft() {
    return NAME.equals(SOFT) || NAME.equals(SOFT_LIMITED);
  }

  /** Whether the engine is used only where every host of the fabric is trusted. */
  public static boolean needsTrust() {
    return !NAME.equals(SOFT);
  }

  public static VerbsEngine load(Map<String, String> settings) {
    Verbs.Choice choice = Verbs.choose(isSoft() ? SOFT : NAME, EngineSettings.of(settings));
    if (choice.engine() == null) {
      throw new IllegalStateException("no engine: name=" + NAME + " reasons=" + choice.reasons());
    }
    return NAME.equals(SOFT_LIMITED) ? LimitedEngine.over(choice.engine()) : choice.engine();
  }

  public static Device open(VerbsEngine engine) throws VerbsException {
    return engine.open(engine.devices().get(0));
  }

  /** Address on which the device listens. */
  public static InetAddress address() {
    if (isSoft()) {
      return InetAddress.getLoopbackAddress();
    }
    try {
      return InetAddress.getByName(System.getenv("GUEST_ADDRESS"));
    } catch (UnknownHostException e) {
      throw new IllegalStateException("to be run in the guest: it sets GUEST_ADDRESS", e);
    }
  }
}
