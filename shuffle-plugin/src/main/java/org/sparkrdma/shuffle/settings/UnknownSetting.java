// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The error for a key that does not exist; names the nearest one that does. Stateless. */
final class UnknownSetting {
  /** Names of the same attributes in other RDMA software. */
  private static final Map<String, ShuffleSetting> ELSEWHERE =
      Map.of(
          "timeout", ShuffleSetting.ACK_TIMEOUT,
          "retry", ShuffleSetting.ACK_RETRY_MAX,
          "retries", ShuffleSetting.ACK_RETRY_MAX,
          "retry.count", ShuffleSetting.ACK_RETRY_MAX,
          "retry.cnt", ShuffleSetting.ACK_RETRY_MAX,
          "dscp", ShuffleSetting.TOS,
          "tclass", ShuffleSetting.TOS,
          "traffic.class", ShuffleSetting.TOS);

  private UnknownSetting() {}

  /**
   * @param ofEngines names of the engines' keys, without the prefix
   */
  static IllegalArgumentException exception(String key, String text, Set<String> ofEngines) {
    Set<String> known = new TreeSet<>();
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      known.add(setting.key());
    }
    ofEngines.forEach(name -> known.add(ShuffleSetting.PREFIX + name));
    ShuffleSetting same = ELSEWHERE.get(key.substring(ShuffleSetting.PREFIX.length()));
    String nearest = same == null ? EditDistance.nearest(key, known) : same.key();
    return new IllegalArgumentException(
        "unknown setting: key="
            + key
            + " value="
            + text
            + " nearest="
            + nearest
            + " allowed="
            + allowed(nearest));
  }

  private static String allowed(String key) {
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      if (setting.key().equals(key)) {
        return setting.allowed();
      }
    }
    return "values that the engine accepts";
  }
}
