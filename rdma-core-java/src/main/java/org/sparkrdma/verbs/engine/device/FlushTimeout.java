// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.verbs.spi.EngineSetting;
import org.sparkrdma.verbs.spi.EngineSettings;

/** The setting {@code flush.timeout} of engines over real devices. Immutable. */
public final class FlushTimeout {
  private static final Pattern TIME = Pattern.compile("([0-9]{1,5})(ms|s)");
  private static final long NS_PER_MS = 1_000_000;
  private static final long MAX_MS = 60_000;

  private final EngineSetting setting;

  /**
   * Makes the setting of one engine.
   *
   * @param prefix the engine's prefix of keys, with its dot
   */
  public FlushTimeout(String prefix) {
    setting =
        new EngineSetting(
            prefix + "flush.timeout",
            "100ms",
            "a time with ms or s, 1ms to 60s",
            "Controls how long a device may take to flush the posted work of a broken connection."
                + " A longer time delays the end of a connection whose device does not flush."
                + " Raise it when the log says that a device did not flush in time.");
  }

  /** Key, default and meaning. */
  public EngineSetting setting() {
    return setting;
  }

  /**
   * The value in nanoseconds.
   *
   * @throws IllegalArgumentException naming key, value and what is allowed
   */
  public long parseNs(EngineSettings given) {
    String value = given.value(setting);
    Matcher time = TIME.matcher(value);
    if (time.matches()) {
      long ms = Long.parseLong(time.group(1)) * (time.group(2).equals("s") ? 1_000 : 1);
      if (ms >= 1 && ms <= MAX_MS) {
        return ms * NS_PER_MS;
      }
    }
    throw new IllegalArgumentException(
        "bad setting: key="
            + setting.key()
            + (" value=" + value)
            + (" allowed=" + setting.allowed()));
  }
}
