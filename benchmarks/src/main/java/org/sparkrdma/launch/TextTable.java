// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.List;
import java.util.function.IntPredicate;

/** Rows as plain text in aligned columns. */
public final class TextTable {
  private TextTable() {}

  /**
   * @param rows the headings first; all of the same length
   * @param isText columns to align on the left; numbers are on the right
   */
  public static String of(List<List<String>> rows, IntPredicate isText) {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < row.size(); column++) {
        line.append(pad(row.get(column), width(rows, column), isText.test(column))).append("  ");
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static int width(List<List<String>> rows, int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }

  private static String pad(String cell, int width, boolean left) {
    String spaces = " ".repeat(width - cell.length());
    return left ? cell + spaces : spaces + cell;
  }
}
