// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import java.util.Collection;
import java.util.Comparator;

/** Finds the known key that differs from an unknown one in the fewest characters. Stateless. */
final class EditDistance {
  private EditDistance() {}

  /** The candidate with the fewest insertions, removals and replacements away. */
  static String nearest(String word, Collection<String> candidates) {
    return candidates.stream()
        .min(
            Comparator.comparingInt((String candidate) -> between(word, candidate))
                .thenComparing(Comparator.naturalOrder()))
        .orElseThrow();
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
