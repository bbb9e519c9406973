/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
 * What the tests run over: the loopback engine, or the one that the property {@code test.engine}
 * names, on the only device of a guest.
 */
final class TestEngine {
  private static final String SOFT = "soft";
  private static final String NAME = System.getProperty("test.engine", SOFT);

  private TestEngine() {}

  static boolean isSoft() {
    return NAME.equals(SOFT);
  }

  static VerbsEngine load(Map<String, String> settings) {
    Verbs.Choice choice = Verbs.choose(NAME, EngineSettings.of(settings));
    if (choice.engine() == null) {
      throw new IllegalStateException("no engine: name=" + NAME + " reasons=" + choice.reasons());
    }
    return choice.engine();
  }

  static Device open(VerbsEngine engine) throws VerbsException {
    return engine.open(engine.devices().get(0).name());
  }

  /** Where the device listens. */
  static InetAddress address() {
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
