// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/**
 * Result of one cell, for the report.
 *
 * @param answerRight whether both runs gave the same rows and sorted the records
 * @param bytesByRead shuffle bytes that the plug-in read by RDMA READ
 * @param bytesByTcp shuffle bytes that the plug-in read by TCP
 * @param problem the reason why the cell failed, in one sentence; null when it passed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record CellResult(
    String spark,
    String scala,
    int java,
    boolean answerRight,
    long bytesByRead,
    long bytesByTcp,
    double seconds,
    String problem) {
  /**
   * A cell whose two applications ran to their end.
   *
   * @param bytesByRead of the second one, as for this record
   * @param bytesByTcp of the second one, as for this record
   * @param difference of the answers, in one sentence; null when there is none
   */
  static CellResult compared(
      Cell cell, long bytesByRead, long bytesByTcp, double seconds, String difference) {
    String noRead = bytesByRead == 0 ? "no byte was read by RDMA READ" : null;
    String problem = difference != null ? difference : noRead;
    return of(cell, difference == null, bytesByRead, bytesByTcp, seconds, problem);
  }

  /** A cell whose cluster or application failed. */
  static CellResult failed(Cell cell, double seconds, String problem) {
    return of(cell, false, 0, 0, seconds, problem);
  }

  private static CellResult of(
      Cell cell, boolean right, long byRead, long byTcp, double seconds, String problem) {
    Cell.SparkRelease spark = cell.spark();
    return new CellResult(
        spark.version(), spark.scala(), cell.java(), right, byRead, byTcp, seconds, problem);
  }

  @JsonIgnore
  boolean hasPassed() {
    return problem == null;
  }

  /** The cells that ran, as a table of plain text with one row each. */
  static String table(List<CellResult> cells) {
    return new TextTable<CellResult>()
        .text("Spark", CellResult::spark)
        .text("Scala", CellResult::scala)
        .text("Java", cell -> Integer.toString(cell.java))
        .text("answer", cell -> cell.answerRight ? "right" : "WRONG")
        .number("by RDMA READ", cell -> new DataSize(cell.bytesByRead).toString())
        .number("by TCP", cell -> new DataSize(cell.bytesByTcp).toString())
        .number("s", cell -> String.format(Locale.ROOT, "%.0f", cell.seconds))
        .text("problem", cell -> cell.hasPassed() ? "none" : cell.problem)
        .of(cells);
  }
}
