// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cells that ran, as a table of plain text with one row each. */
final class MatrixTable {
  private static final List<String> HEADINGS =
      List.of("Spark", "Scala", "Java", "answer", "by RDMA READ", "by TCP", "s", "problem");

  private MatrixTable() {}

  static String of(List<CellResult> cells) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADINGS);
    for (CellResult cell : cells) {
      rows.add(
          List.of(
              cell.spark(),
              cell.scala(),
              cell.java(),
              cell.answerRight() ? "right" : "WRONG",
              new DataSize(cell.bytesByRead()).toString(),
              new DataSize(cell.bytesByTcp()).toString(),
              String.format(Locale.ROOT, "%.0f", cell.seconds()),
              cell.hasPassed() ? "none" : cell.problem()));
    }
    return TextTable.of(rows, column -> column <= 3 || column == HEADINGS.size() - 1);
  }
}
