// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.util.List;
import org.sparkrdma.verbs.engine.device.FlushTimeout;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;

/**
 * The ibverbs engine's settings, checked.
 *
 * @param maxInlineBytes maximum inline data of a send; less where the device supports less
 * @param flushTimeoutNs maximum time in which the device flushes the work of a broken queue pair
 */
record IbverbsSettings(int maxInlineBytes, long flushTimeoutNs) {
  static final String NAME = "ibverbs";

  private static final String PREFIX = NAME + ".";

  private static final EngineSetting MAX_INLINE =
      new EngineSetting(
          PREFIX + "inline.max",
          "220",
          "bytes, 0 to 4096",
          "Controls the maximum number of bytes that a SEND carries in its work request; 0 for none."
              + " More inline bytes make each work request larger and save the device a read of"
              + " memory. Reduce it when a device cannot make queue pairs of this size.");
  private static final FlushTimeout FLUSH_TIMEOUT = new FlushTimeout(PREFIX);

  static List<EngineSetting> all() {
    return List.of(MAX_INLINE, FLUSH_TIMEOUT.setting());
  }

  /**
   * Checks the user's settings.
   *
   * @throws IllegalArgumentException naming key, value and allowed values
   */
  static IbverbsSettings of(EngineSettings given) {
    given.requireKnown(NAME, all());
    return new IbverbsSettings(number(given, MAX_INLINE, 0, 4_096), FLUSH_TIMEOUT.parseNs(given));
  }

  private static int number(EngineSettings given, EngineSetting setting, int min, int max) {
    String value = given.value(setting);
    try {
      int number = Integer.parseInt(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw bad(setting, value, e);
    }
    throw bad(setting, value, null);
  }

  private static IllegalArgumentException bad(
      EngineSetting setting, String value, NumberFormatException cause) {
    return new IllegalArgumentException(
        "bad setting: key="
            + setting.key()
            + (" value=" + value)
            + (" allowed=" + setting.allowed()),
        cause);
  }
}
