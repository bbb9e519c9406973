// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The error for a key that does not exist; names the nearest one that does, if one is near.
 * Stateless.
 */
final class UnknownSetting {
  /** Names of the same attributes in other RDMA software. */
  private static final Map<String, ShuffleSetting> ELSEWHERE =
      Map.of(
          "timeout", ShuffleSetting.ACK_TIMEOUT,
          "dscp", ShuffleSetting.TOS,
          "tclass", ShuffleSetting.TOS,
          "traffic.class", ShuffleSetting.TOS);

  private UnknownSetting() {}

  /**
   * @param ofEngines names of the engines' keys, without the prefix
   */
  static IllegalArgumentException exception(String key, String text, Set<String> ofEngines) {
    return new IllegalArgumentException(
        "unknown setting: key="
            + key
            + " value="
            + text
            + nearest(key.substring(ShuffleSetting.PREFIX.length()), ofEngines)
                .map(nearest -> " nearest=" + nearest + " allowed=" + allowed(nearest))
                .orElse(" allowed=the keys of docs/configuration.md"));
  }

  /**
   * The key whose name differs in at most about a third of the characters; others have nothing in
   * common with it.
   *
   * @param name without the prefix
   * @param ofEngines names of the engines' keys, without the prefix
   * @return with the prefix
   */
  static Optional<String> nearest(String name, Set<String> ofEngines) {
    ShuffleSetting same = ELSEWHERE.get(name);
    return same != null
        ? Optional.of(same.key())
        : EditDistance.nearest(
            ShuffleSetting.PREFIX + name, known(ofEngines), (name.length() + 2) / 3);
  }

  /**
   * Every key with the prefix.
   *
   * @param ofEngines names of the engines' keys, without the prefix
   */
  static Set<String> known(Set<String> ofEngines) {
    Set<String> known = new TreeSet<>();
    for (ShuffleSetting setting : ShuffleSetting.values()) {
      known.add(setting.key());
    }
    ofEngines.forEach(name -> known.add(ShuffleSetting.PREFIX + name));
    return known;
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
