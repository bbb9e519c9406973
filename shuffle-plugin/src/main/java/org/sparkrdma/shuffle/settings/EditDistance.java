// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the known key that differs from an unknown one in the fewest characters. Stateless. */
final class EditDistance {
  private EditDistance() {}

  /**
   * The candidate with the fewest insertions, removals and replacements.
   *
   * @param most maximum number of them
   */
  static Optional<String> nearest(String word, Collection<String> candidates, int most) {
    return candidates.stream()
        .filter(candidate -> between(word, candidate) <= most)
        .min(
            Comparator.comparingInt((String candidate) -> between(word, candidate))
                .thenComparing(Comparator.naturalOrder()));
  }

  static int between(String left, String right) {
    int[] row = new int[right.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= left.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[right.length()];
  }
}
