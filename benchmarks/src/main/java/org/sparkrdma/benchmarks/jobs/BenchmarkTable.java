// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.CaseReport;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.Metric;
import org.sparkrdma.benchmarks.jobs.BenchmarkReport.RunResult;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** A report as plain text. Stateless. */
public final class BenchmarkTable {

  /** Ratios of fewer rounds show chance more than a difference. */
  private static final int MIN_ROUNDS_FOR_RATIOS = 3;

  /** Number of runs after which the JVM compiles little. */
  private static final int ENOUGH_WARM_UPS = 4;

  private BenchmarkTable() {}

  /** Values of each case, then ratios if there are enough rounds. */
  public static String of(BenchmarkReport report) {
    StringBuilder text = new StringBuilder();
    int rounds = report.plan().rounds();
    for (CaseReport each : report.cases()) {
      text.append(
          "%s %s: median (quartiles) of %d round%s%n"
              .formatted(report.plan().job(), each.shape(), rounds, rounds == 1 ? "" : "s"));
      List<List<String>> rows = values(each, rounds);
      int lastColumn = rows.get(0).size() - 1;
      text.append(TextTable.of(rows, column -> column == 0 || column == lastColumn)).append('\n');
      if (each.summaries().size() > 1 && rounds >= MIN_ROUNDS_FOR_RATIOS) {
        text.append(TextTable.of(ratios(each), column -> column == 0)).append('\n');
      }
      Set<String> queries =
          each.runs().isEmpty() ? Set.of() : each.runs().get(0).querySeconds().keySet();
      if (queries.size() > 1) {
        text.append(TextTable.of(queries(each, queries), column -> column == 0)).append('\n');
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
  static List<List<String>> values(CaseReport report, int rounds) {
    List<Metric> metrics = rounds == 1 ? List.of(Metric.WALL) : List.of(Metric.values());
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("shuffle"));
    metrics.forEach(metric -> headings.add(metric.heading()));
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
      CaseReport report, CaseReport.Summary summary, List<Metric> metrics, int rounds) {
    List<RunResult> runs = report.runs(summary.mode());
    List<String> row = new ArrayList<>(List.of(summary.mode().toString()));
    for (Metric metric : metrics) {
      row.add(summary.values().get(metric).format());
    }
    row.add(bytes(runs, run -> run.bytes().read()));
    row.add(bytes(runs, run -> run.bytes().tcp()));
    if (rounds > 1) {
      row.add(bytes(runs, run -> run.bytes().local()));
      long blocks = median(runs, run -> run.blocks().read() + run.blocks().tcp());
      row.add(String.format(Locale.ROOT, "%,d", blocks));
    }
    row.add(fallbacks(runs));
    return row;
  }

  private static String bytes(List<RunResult> runs, ToLongFunction<RunResult> value) {
    return new DataSize(median(runs, value)).toString();
  }

  private static long median(List<RunResult> runs, ToLongFunction<RunResult> value) {
    return runs.stream().mapToLong(value).sorted().toArray()[runs.size() / 2];
  }

  /** The ratios to the first shuffle, the headings first. */
  static List<List<String>> ratios(CaseReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("ratio"));
    for (Metric metric : Metric.values()) {
      headings.add(metric.toString());
    }
    rows.add(headings);
    CaseReport.Summary first = report.summaries().get(0);
    for (CaseReport.Summary summary : report.summaries().subList(1, report.summaries().size())) {
      List<String> row = new ArrayList<>(List.of(summary.mode() + " / " + first.mode()));
      for (Metric metric : Metric.values()) {
        Quartiles ratio = summary.ratios().get(metric);
        row.add(ratio == null ? "-" : ratio.format());
      }
      rows.add(row);
    }
    return rows;
  }

  private static String fallbacks(List<RunResult> runs) {
    Map<String, Long> sums = new TreeMap<>();
    runs.forEach(run -> run.fallbacks().forEach((name, n) -> sums.merge(name, n, Long::sum)));
    return sums.isEmpty()
        ? "none"
        : sums.entrySet().stream()
            .map(entry -> "%d blocks (%s)".formatted(entry.getValue(), entry.getKey()))
            .collect(Collectors.joining(", "));
  }

  /** Wall time of each query, then its ratio to the first shuffle; the headings first. */
  private static List<List<String>> queries(CaseReport report, Set<String> queries) {
    List<ShuffleMode> modes = report.summaries().stream().map(CaseReport.Summary::mode).toList();
    List<ShuffleMode> others = modes.subList(1, modes.size());
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("query"));
    modes.forEach(mode -> headings.add(mode + " s"));
    others.forEach(mode -> headings.add(mode + " / " + modes.get(0)));
    rows.add(headings);
    for (String query : queries) {
      ToDoubleFunction<RunResult> seconds =
          run -> run.querySeconds().getOrDefault(query, Double.NaN);
      List<String> row = new ArrayList<>(List.of(query));
      for (ShuffleMode mode : modes) {
        row.add(Quartiles.of(report.runs(mode), seconds).format());
      }
      for (ShuffleMode mode : others) {
        row.add(Quartiles.of(report.ratios(mode, seconds), Double::doubleValue).format());
      }
      rows.add(row);
    }
    return rows;
  }
}
