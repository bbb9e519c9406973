// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** A report as plain text. Stateless. */
public final class BenchmarkTable {
  private static final int RATIO_DECIMALS = 2;

  /** Ratios of fewer rounds show chance more than a difference. */
  private static final int MIN_ROUNDS_FOR_RATIOS = 3;

  /** Number of runs after which the JVM compiles little. */
  private static final int ENOUGH_WARM_UPS = 4;

  private BenchmarkTable() {}

  /** Values of each case, then ratios if there are enough rounds. */
  public static String of(BenchmarkReport report) {
    StringBuilder text = new StringBuilder();
    int rounds = report.plan().rounds();
    for (BenchmarkReport.CaseReport each : report.cases()) {
      text.append(
          "%s %s: median (quartiles) of %d round%s%n"
              .formatted(report.plan().job(), each.shape(), rounds, rounds == 1 ? "" : "s"));
      List<List<String>> rows = values(each, rounds);
      int lastColumn = rows.get(0).size() - 1;
      text.append(TextTable.of(rows, column -> column == 0 || column == lastColumn)).append('\n');
      if (each.summaries().size() > 1 && rounds >= MIN_ROUNDS_FOR_RATIOS) {
        text.append(TextTable.of(ratios(each), column -> column == 0)).append('\n');
      }
      if (QueryTable.isFor(each)) {
        text.append(TextTable.of(QueryTable.rows(each), column -> column == 0)).append('\n');
      }
    }
    if (rounds > 1) {
      text.append("Bytes and blocks are medians of the rounds; fallbacks are sums of them.\n");
    }
    if (report.plan().warmUps() < ENOUGH_WARM_UPS) {
      text.append(
          ("With --warm-ups %d each run is one of the first of its executors, in which the JVM still"
                  + " compiles and the plug-in starts. For applications of more than a minute add"
                  + " --warm-ups 5.")
              .formatted(report.plan().warmUps()));
    }
    return text.toString().stripTrailing();
  }

  /**
   * The shuffles with median and quartiles of each metric, the headings first; of one round the
   * time only.
   */
  static List<List<String>> values(BenchmarkReport.CaseReport report, int rounds) {
    List<BenchmarkReport.Metric> metrics =
        rounds == 1
            ? List.of(BenchmarkReport.Metric.WALL)
            : List.of(BenchmarkReport.Metric.values());
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("shuffle"));
    for (BenchmarkReport.Metric metric : metrics) {
      headings.add(metric.heading());
    }
    headings.addAll(List.of("by READ", "by TCP"));
    if (rounds > 1) {
      headings.addAll(List.of("local", "remote blocks"));
    }
    headings.add("fallbacks");
    rows.add(headings);
    report.summaries().forEach(summary -> rows.add(values(report, summary, metrics, rounds)));
    return rows;
  }

  private static List<String> values(
      BenchmarkReport.CaseReport report,
      BenchmarkReport.CaseReport.Summary summary,
      List<BenchmarkReport.Metric> metrics,
      int rounds) {
    List<BenchmarkReport.RunResult> runs = report.runs(summary.mode());
    List<String> row = new ArrayList<>(List.of(summary.mode().toString()));
    for (BenchmarkReport.Metric metric : metrics) {
      row.add(format(summary.values().get(metric), metric.decimals(), runs.size()));
    }
    row.add(bytes(runs, run -> run.bytes().read()));
    row.add(bytes(runs, run -> run.bytes().tcp()));
    if (rounds > 1) {
      row.add(bytes(runs, run -> run.bytes().local()));
      long blocks = median(runs, run -> run.blocks().read() + run.blocks().tcp());
      row.add(String.format(Locale.ROOT, "%,d", blocks));
    }
    row.add(counts(sum(runs)));
    return row;
  }

  private static String bytes(
      List<BenchmarkReport.RunResult> runs, ToLongFunction<BenchmarkReport.RunResult> value) {
    return new DataSize(median(runs, value)).toString();
  }

  private static long median(
      List<BenchmarkReport.RunResult> runs, ToLongFunction<BenchmarkReport.RunResult> value) {
    return runs.stream().mapToLong(value).sorted().toArray()[runs.size() / 2];
  }

  /** The ratios to the first shuffle, the headings first. */
  static List<List<String>> ratios(BenchmarkReport.CaseReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("ratio"));
    for (BenchmarkReport.Metric metric : BenchmarkReport.Metric.values()) {
      headings.add(metric.toString());
    }
    rows.add(headings);
    BenchmarkReport.CaseReport.Summary first = report.summaries().get(0);
    for (BenchmarkReport.CaseReport.Summary summary :
        report.summaries().subList(1, report.summaries().size())) {
      int rounds = report.runs(summary.mode()).size();
      List<String> row = new ArrayList<>(List.of(summary.mode() + " / " + first.mode()));
      for (BenchmarkReport.Metric metric : BenchmarkReport.Metric.values()) {
        Quartiles ratio = summary.ratios().get(metric);
        row.add(ratio == null ? "-" : format(ratio, RATIO_DECIMALS, rounds));
      }
      rows.add(row);
    }
    return rows;
  }

  /** One round has no quartiles. */
  static String format(Quartiles quartiles, int decimals, int rounds) {
    return rounds == 1 ? quartiles.formatMedian(decimals) : quartiles.format(decimals);
  }

  private static Map<String, Long> sum(List<BenchmarkReport.RunResult> runs) {
    Map<String, Long> sums = new TreeMap<>();
    runs.forEach(run -> run.fallbacks().forEach((name, n) -> sums.merge(name, n, Long::sum)));
    return sums;
  }

  private static String counts(Map<String, Long> byReason) {
    return byReason.isEmpty()
        ? "none"
        : new TreeMap<>(byReason)
            .entrySet().stream()
                .map(entry -> "%d blocks (%s)".formatted(entry.getValue(), entry.getKey()))
                .collect(Collectors.joining(", "));
  }

  /** The queries of a job under each shuffle. Stateless. */
  static final class QueryTable {
    private QueryTable() {}

    /** Whether the job consists of several queries whose times were measured. */
    static boolean isFor(BenchmarkReport.CaseReport report) {
      return names(report).size() > 1;
    }

    /** Wall time of each query, then its ratio to the first shuffle; the headings first. */
    static List<List<String>> rows(BenchmarkReport.CaseReport report) {
      List<ShuffleMode> modes = modes(report);
      int rounds = report.runs(modes.get(0)).size();
      List<List<String>> rows = new ArrayList<>();
      List<String> headings = new ArrayList<>(List.of("query"));
      modes.forEach(mode -> headings.add(mode + " s"));
      others(report).forEach(mode -> headings.add(mode + " / " + modes.get(0)));
      rows.add(headings);
      for (String query : names(report)) {
        List<String> row = new ArrayList<>(List.of(query));
        for (ShuffleMode mode : modes) {
          Quartiles seconds =
              Quartiles.of(report.runs(mode), run -> run.querySeconds().getOrDefault(query, 0.0));
          row.add(BenchmarkTable.format(seconds, 2, rounds));
        }
        for (ShuffleMode mode : others(report)) {
          row.add(BenchmarkTable.format(ratio(report, mode, query), 2, rounds));
        }
        rows.add(row);
      }
      return rows;
    }

    /** The ratios of the rounds, to the first shuffle in the same round. */
    private static Quartiles ratio(
        BenchmarkReport.CaseReport report, ShuffleMode mode, String query) {
      return Quartiles.of(
          report.ratios(mode, run -> run.querySeconds().getOrDefault(query, Double.NaN)),
          Double::doubleValue);
    }

    private static List<String> names(BenchmarkReport.CaseReport report) {
      return report.runs().isEmpty()
          ? List.of()
          : List.copyOf(report.runs().get(0).querySeconds().keySet());
    }

    private static List<ShuffleMode> modes(BenchmarkReport.CaseReport report) {
      return report.summaries().stream().map(BenchmarkReport.CaseReport.Summary::mode).toList();
    }

    private static List<ShuffleMode> others(BenchmarkReport.CaseReport report) {
      return modes(report).subList(1, modes(report).size());
    }
  }
}
