// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.List;
import org.sparkrdma.verbs.engine.device.FlushTimeout;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The ibverbs engine's settings, checked.
 *
 * @param flushTimeoutNs maximum time in which the device flushes the work of a broken queue pair
 */
record IbverbsSettings(long flushTimeoutNs) {
  static final String NAME = "ibverbs";

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
  static IbverbsSettings of(EngineSettings given) {
    given.requireKnown(NAME, all());
    return new IbverbsSettings(FLUSH_TIMEOUT.parseNs(given));
  }
}
