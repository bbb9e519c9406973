// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Collection;
import java.util.Comparator;

/** Names the key that a user may have meant by an unknown one. Stateless. */
final class UnknownSetting {
  private UnknownSetting() {}

  /**
   * The sentence about a key that does not exist. Names the known key that differs from it in the
   * fewest characters, unless that is more than about a third of them.
   *
   * @param name without the prefix
   * @param known names of all keys, without the prefix
   */
  static String sentence(String name, String text, Collection<String> known) {
    String nearest =
        known.stream()
            .filter(other -> distance(name, other) <= (name.length() + 2) / 3)
            .min(Comparator.comparingInt(other -> distance(name, other)))
            .map(other -> " nearest=" + ShuffleSetting.PREFIX + other)
            .orElse("");
    return "unknown setting: key="
        + (ShuffleSetting.PREFIX + name)
        + (" value=" + text + nearest)
        + " allowed=the keys of docs/configuration.md";
  }

  /** Number of insertions, removals and replacements. */
  private static int distance(String left, String right) {
    int[][] counts = new int[left.length() + 1][right.length() + 1];
    for (int i = 0; i <= left.length(); i++) {
      for (int j = 0; j <= right.length(); j++) {
        if (i == 0 || j == 0) {
          counts[i][j] = i + j;
        } else {
          int replaced = left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1;
          counts[i][j] =
              Math.min(
                  counts[i - 1][j - 1] + replaced,
                  1 + Math.min(counts[i - 1][j], counts[i][j - 1]));
        }
      }
    }
    return counts[left.length()][right.length()];
  }
}
