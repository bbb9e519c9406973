// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

/**
 * Breaks lines at blanks. A word that is longer than a line stays whole.
 *
 * @param columns maximum length of a line in characters
 */
record LineWrap(int columns) {
  /** Breaks nothing. */
  static final LineWrap NONE = new LineWrap(Integer.MAX_VALUE);

  /**
   * The text with line breaks, without one at its end.
   *
   * @param indent columns that the first line has before the text, and blanks before the others
   */
  String wrap(String text, int indent) {
    StringBuilder lines = new StringBuilder();
    int length = indent;
    for (String word : text.split(" ", -1)) {
      boolean first = lines.isEmpty();
      if (!first && length + 1 + word.length() > columns) {
        lines.append('\n').append(" ".repeat(indent));
        length = indent;
      } else if (!first) {
        lines.append(' ');
        length++;
      }
      lines.append(word);
      length += word.length();
    }
    return lines.toString();
  }
}
