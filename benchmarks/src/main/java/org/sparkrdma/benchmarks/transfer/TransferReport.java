// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.benchmarks.transfer.TransferPlan.Kind;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** All cases of one kind, in the order of time, and what they were measured on. */
record TransferReport(Environment environment, List<Case> cases) {
  private static final List<Column> THROUGHPUT =
      List.of(
          new Column("throughput ratio", "throughput", 2, true),
          new Column("server CPU ratio", "serverCpu", 3, true),
          new Column("client CPU ratio", "clientCpu", 3, true),
          new Column("RDMA GB/s", "rdmaGbPerSecond", 2, false),
          new Column("RDMA server s/GB", "rdmaServerSecondsPerGb", 3, false),
          new Column("RDMA client s/GB", "rdmaClientSecondsPerGb", 3, false));
  private static final List<Column> LATENCY =
      List.of(
          new Column("p50 ratio", "p50", 2, true),
          new Column("p99 ratio", "p99", 2, true),
          new Column("RDMA p50 us", "rdmaP50Us", 0, false),
          new Column("RDMA p99 us", "rdmaP99Us", 0, false),
          new Column("netty p50 us", "nettyP50Us", 0, false),
          new Column("netty p99 us", "nettyP99Us", 0, false),
          new Column("RDMA B/block", "rdmaBytesPerBlock", 0, false));
  private static final List<Column> CEILING =
      List.of(
          new Column("CPU ratio", "cpu", 3, true),
          new Column("both us", "rdmaBothUs", 2, true),
          new Column("client us", "clientUs", 2, false),
          new Column("server us", "serverUs", 2, false),
          new Column("netty both us", "nettyBothUs", 1, false),
          new Column("client B", "clientBytesPerBlock", 0, false),
          new Column("server B", "serverBytesPerBlock", 0, false));

  /**
   * The rounds of one block length.
   *
   * @param engine of the plug-in
   * @param figures median and quartiles of the rounds, by the names of {@link Round#figures}
   */
  record Case(
      Kind kind,
      String engine,
      int blockBytes,
      TransferPlan.Verify verify,
      int batch,
      int rounds,
      Map<String, Quartiles> figures) {
    /**
     * @param rounds figures of each, at least one
     */
    static Case of(TransferPlan plan, int blockBytes, List<Map<String, Double>> rounds) {
      Map<String, Quartiles> figures = new LinkedHashMap<>();
      for (String name : rounds.get(0).keySet()) {
        figures.put(name, Quartiles.of(rounds, round -> round.get(name)));
      }
      return new Case(
          plan.kind(),
          plan.engine(),
          blockBytes,
          plan.verify(),
          plan.batch(),
          rounds.size(),
          figures);
    }
  }

  /**
   * A column of the table.
   *
   * @param spread whether it has the quartiles beside the median
   */
  private record Column(String heading, String figure, int decimals, boolean spread) {
    String cell(Case one) {
      Quartiles value = one.figures().get(figure);
      return spread && one.rounds() > 1 ? value.format(decimals) : value.formatMedian(decimals);
    }
  }

  /** The cases, at least one, as plain text. */
  String table() {
    Kind kind = cases.get(0).kind();
    List<Column> columns =
        switch (kind) {
          case THROUGHPUT -> THROUGHPUT;
          case LATENCY -> LATENCY;
          case CEILING -> CEILING;
        };
    boolean isLatency = kind == Kind.LATENCY;
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("block", isLatency ? "batch" : "verify"));
    columns.forEach(column -> headings.add(column.heading()));
    rows.add(headings);
    for (Case one : cases) {
      List<String> row = new ArrayList<>(List.of(new DataSize(one.blockBytes()).toString()));
      row.add(isLatency ? Integer.toString(one.batch()) : one.verify().toString());
      columns.forEach(column -> row.add(column.cell(one)));
      rows.add(row);
    }
    return explanation(kind) + TextTable.of(rows, column -> column == 1);
  }

  private static String explanation(Kind kind) {
    return "ratios are RDMA / netty; medians of the rounds, with quartiles where there are brackets;\n"
        + switch (kind) {
          case THROUGHPUT -> "s/GB is CPU time\n";
          case LATENCY ->
              "one request at a time, until the task has all its blocks; B is what the reader allocated on"
                  + " the heap\n";
          case CEILING ->
              "CPU time and bytes allocated for each block, on a device whose READs move no bytes;"
                  + " the device's own\nthread is in no figure\n";
        };
  }
}
