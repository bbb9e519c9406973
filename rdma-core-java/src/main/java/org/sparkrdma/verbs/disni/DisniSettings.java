// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import java.util.List;
import org.sparkrdma.verbs.engine.device.FlushTimeout;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The DiSNI engine's settings, checked.
 *
 * @param flushTimeoutNs maximum time in which the device flushes the work of a broken queue pair
 */
record DisniSettings(long flushTimeoutNs) {
  static final String NAME = "disni";

  private static final String PREFIX = NAME + ".";
  private static final FlushTimeout FLUSH_TIMEOUT = new FlushTimeout(PREFIX);

  static List<EngineSetting> all() {
    return List.of(FLUSH_TIMEOUT.setting());
  }

  /**
   * Checks the user's settings.
   *
   * @throws IllegalArgumentException naming key, value and allowed values
   */
  static DisniSettings of(EngineSettings given) {
    given.requireKnown(NAME, all());
    return new DisniSettings(FLUSH_TIMEOUT.parseNs(given));
  }
}
