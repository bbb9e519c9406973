// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.Environment;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.MeasuringRuns;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** All cases, in the order of time, and what they were measured on. */
record TransferReport(Environment environment, List<Case> cases) {

  /**
   * The rounds of one block length.
   *
   * @param engine of the plug-in
   * @param figures median and quartiles of the rounds, by the names of {@link Round#figures}
   */
  record Case(
      TransferPlan.Kind kind,
      String engine,
      int blockBytes,
      TransferCommand.VerifyMode verify,
      int batch,
      int rounds,
      Map<String, Quartiles> figures) {
    /**
     * @param rounds figures of each, at least one
     */
    static Case of(
        TransferPlan plan,
        String engine,
        TransferCommand.VerifyMode verify,
        int blockBytes,
        List<Map<String, Double>> rounds) {
      Map<String, Quartiles> figures = new LinkedHashMap<>();
      for (String name : rounds.get(0).keySet()) {
        figures.put(name, Quartiles.of(rounds, round -> round.get(name)));
      }
      return new Case(
          plan.kind(), engine, blockBytes, verify, plan.batch(), rounds.size(), figures);
    }

    /** A case for each block length of the plan. */
    static List<Case> all(
        TransferPlan plan, String engine, TransferCommand.VerifyMode verify, Result result) {
      List<Case> cases = new ArrayList<>();
      for (int i = 0; i < plan.blockBytes().size(); i++) {
        int from = i * plan.rounds();
        List<Map<String, Double>> rounds = result.rounds().subList(from, from + plan.rounds());
        cases.add(of(plan, engine, verify, plan.blockBytes().get(i), rounds));
      }
      return cases;
    }
  }

  /**
   * Result of one application, as JSON.
   *
   * @param rounds figures of the measured rounds in the order of time
   * @param objection the reason why they are invalid, in one sentence; null when they are valid
   */
  record Result(List<Map<String, Double>> rounds, String objection)
      implements MeasuringRuns.Result {}

  /** The cases of one kind as a table. Stateless. */
  static final class Table {
    private Table() {}

    /**
     * A column.
     *
     * @param spread whether it has the quartiles beside the median
     */
    private record Column(String heading, String figure, int decimals, boolean spread) {}

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
     * @param cases of one kind, at least one
     */
    static String of(List<TransferReport.Case> cases) {
      TransferPlan.Kind kind = cases.get(0).kind();
      List<Column> columns =
          switch (kind) {
            case THROUGHPUT -> THROUGHPUT;
            case LATENCY -> LATENCY;
            case CEILING -> CEILING;
          };
      String second = kind == TransferPlan.Kind.LATENCY ? "batch" : "verify";
      List<List<String>> rows = new ArrayList<>();
      List<String> headings = new ArrayList<>(List.of("block", second));
      columns.forEach(column -> headings.add(column.heading()));
      rows.add(headings);
      for (TransferReport.Case one : cases) {
        List<String> row = new ArrayList<>(List.of(new DataSize(one.blockBytes()).toString()));
        row.add(
            kind == TransferPlan.Kind.LATENCY
                ? Integer.toString(one.batch())
                : one.verify().toString());
        columns.forEach(column -> row.add(cell(one, column)));
        rows.add(row);
      }
      return explanation(kind) + TextTable.of(rows, column -> column == 1);
    }

    private static String explanation(TransferPlan.Kind kind) {
      String ratios =
          "ratios are RDMA / netty; medians of the rounds, with quartiles where there are brackets;\n";
      return ratios
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

    private static String cell(TransferReport.Case one, Column column) {
      Quartiles value = one.figures().get(column.figure());
      return column.spread() && one.rounds() > 1
          ? value.format(column.decimals())
          : String.format(Locale.ROOT, "%." + column.decimals() + "f", value.median());
    }
  }
}
