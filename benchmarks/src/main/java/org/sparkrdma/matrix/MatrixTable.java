/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.matrix;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cells that ran as a table of plain text, one row each. */
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
              cell.isGood() ? "none" : cell.problem()));
    }
    return TextTable.of(rows, column -> column <= 3 || column == HEADINGS.size() - 1);
  }
}
