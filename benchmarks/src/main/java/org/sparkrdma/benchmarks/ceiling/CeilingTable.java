// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cases as tables of plain text. */
final class CeilingTable {
  private CeilingTable() {}

  private record Column(String heading, Figure figure, int decimals) {}

  private static final List<Column> COSTS =
      List.of(
          new Column("both us", Figure.BOTH_US, 2),
          new Column("client us", Figure.CLIENT_US, 2),
          new Column("server us", Figure.SERVER_US, 2),
          new Column("agent us", Figure.AGENT_US, 2),
          new Column("agent share", Figure.AGENT_SHARE, 2),
          new Column("netty both us", Figure.NETTY_BOTH_US, 1),
          new Column("ratio", Figure.CPU_RATIO, 3));

  private static final List<Column> REST =
      List.of(
          new Column("blocks/s and core", Figure.BLOCKS_PER_CORE_SECOND, 0),
          new Column("blocks/s", Figure.BLOCKS_PER_SECOND, 0),
          new Column("GB/s", Figure.GB_PER_SECOND, 2),
          new Column("client B", Figure.CLIENT_BYTES, 0),
          new Column("agent B", Figure.AGENT_BYTES, 1),
          new Column("server B", Figure.SERVER_BYTES, 0),
          new Column("delivery us", Figure.DELIVERY_US, 2),
          new Column("task us", Figure.TASK_US, 2),
          new Column("server agent us", Figure.SERVER_AGENT_US, 2),
          new Column("block server us", Figure.BLOCK_SERVER_US, 2),
          new Column("JVMs us", Figure.JVM_US, 2),
          new Column("device us", Figure.DEVICE_US, 2),
          new Column("agent link Gbit/s", Figure.AGENT_LINK_GBIT_PER_SECOND, 1));

  static String of(CeilingReport report) {
    List<List<List<String>>> tables = tables(report);
    return "CPU time for each block: median (min..max) of the rounds; ratio is plug-in / Spark's own\n"
        + text(tables.get(0))
        + "\nmedians of the rounds; B is bytes allocated for each block; agent link is computed, not"
        + " measured:\nthe speed at which the client's agent would be busy\n"
        + text(tables.get(1))
        + "\ngoals\n  "
        + String.join("\n  ", report.goals())
        + "\n";
  }

  /** The rows of each table, the headings first: costs, then the rest. */
  static List<List<List<String>>> tables(CeilingReport report) {
    return List.of(table(report.cases(), COSTS, true), table(report.cases(), REST, false));
  }

  private static String text(List<List<String>> rows) {
    return TextTable.of(rows, column -> false);
  }

  private static List<List<String>> table(
      List<CeilingCase> cases, List<Column> columns, boolean spread) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("block", "peers"));
    columns.forEach(column -> headings.add(column.heading()));
    rows.add(headings);
    for (CeilingCase one : cases) {
      List<String> row = new ArrayList<>();
      row.add(new DataSize(one.blockBytes()).toString());
      row.add(Integer.toString(one.peers()));
      columns.forEach(column -> row.add(cell(one, column, spread)));
      rows.add(row);
    }
    return rows;
  }

  private static String cell(CeilingCase one, Column column, boolean spread) {
    return spread
        ? one.figures().get(column.figure()).format(column.decimals())
        : String.format(Locale.ROOT, "%." + column.decimals() + "f", one.median(column.figure()));
  }
}
