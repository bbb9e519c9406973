// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.Quartiles;
import org.sparkrdma.launch.TextTable;

/** A report as plain text. Stateless. */
public final class BenchmarkTable {
  private static final int RATIO_DECIMALS = 2;

  private BenchmarkTable() {}

  /** Values of each case, then ratios. */
  public static String of(BenchmarkReport report) {
    StringBuilder text = new StringBuilder();
    for (CaseReport each : report.cases()) {
      text.append(
          "%s %s: %s; median (quartiles) of %d round%s%n"
              .formatted(
                  report.plan().job(),
                  each.shape(),
                  each.description(),
                  report.plan().rounds(),
                  report.plan().rounds() == 1 ? "" : "s"));
      int lastColumn = values(each).get(0).size() - 1;
      text.append(TextTable.of(values(each), column -> column == 0 || column == lastColumn))
          .append('\n');
      if (each.summaries().size() > 1) {
        text.append(TextTable.of(ratios(each), column -> column == 0)).append('\n');
      }
      if (QueryTable.isFor(each)) {
        text.append(TextTable.of(QueryTable.rows(each), column -> column == 0)).append('\n');
        QueryTable.slowerQueries(each).forEach(line -> text.append(line).append('\n'));
      }
    }
    ReportNotes.of(report.plan()).forEach(note -> text.append(note).append('\n'));
    return text.toString().stripTrailing();
  }

  /** The shuffles with median and quartiles of each metric, the headings first. */
  static List<List<String>> values(CaseReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("shuffle"));
    for (Metric metric : Metric.values()) {
      headings.add(metric.heading());
    }
    headings.addAll(List.of("by READ", "by TCP", "local", "remote blocks"));
    headings.addAll(List.of("copied", "waits for memory", "fallbacks"));
    rows.add(headings);
    report.summaries().forEach(summary -> rows.add(values(report, summary)));
    return rows;
  }

  private static List<String> values(CaseReport report, CaseReport.Summary summary) {
    List<RunResult> runs = report.runs(summary.mode());
    List<String> row = new ArrayList<>(List.of(summary.mode().toString()));
    for (Metric metric : Metric.values()) {
      Quartiles value = summary.values().get(metric);
      row.add(value == null ? "-" : format(value, metric.decimals(), runs.size()));
    }
    row.add(bytes(runs, run -> run.bytes().read()));
    row.add(bytes(runs, run -> run.bytes().tcp()));
    row.add(bytes(runs, run -> run.bytes().local()));
    long[] blocks = sorted(runs, run -> run.blocks().read() + run.blocks().tcp());
    row.add(String.format(Locale.ROOT, "%,d", blocks[blocks.length / 2]));
    row.add(copied(runs));
    row.add(counts(sum(runs, RunResult::memoryWaits)));
    row.add(fallbacks(runs));
    return row;
  }

  private static String copied(List<RunResult> runs) {
    return runs.stream().anyMatch(run -> run.copiedBlocks() == null)
        ? "not counted"
        : String.format(Locale.ROOT, "%,d", runs.stream().mapToLong(RunResult::copiedBlocks).sum());
  }

  /** Median, and the range if there is one. */
  private static String bytes(List<RunResult> runs, ToLongFunction<RunResult> value) {
    long[] sorted = sorted(runs, value);
    String median = new DataSize(sorted[sorted.length / 2]).toString();
    String least = new DataSize(sorted[0]).toString();
    String most = new DataSize(sorted[sorted.length - 1]).toString();
    return least.equals(most) ? median : "%s (%s..%s)".formatted(median, least, most);
  }

  private static long[] sorted(List<RunResult> runs, ToLongFunction<RunResult> value) {
    return runs.stream().mapToLong(value).sorted().toArray();
  }

  /** Sums of all rounds, and the rounds in which they were if that is not all of them. */
  private static String fallbacks(List<RunResult> runs) {
    List<String> rounds =
        runs.stream()
            .filter(run -> !run.fallbacks().isEmpty())
            .map(run -> Integer.toString(run.round()))
            .toList();
    String counts = counts(sum(runs, RunResult::fallbacks));
    return rounds.isEmpty() || rounds.size() == runs.size()
        ? counts
        : "%s in round%s %s"
            .formatted(counts, rounds.size() == 1 ? "" : "s", String.join(" ", rounds));
  }

  /** The ratios to the first shuffle, the headings first. */
  static List<List<String>> ratios(CaseReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("ratio"));
    for (Metric metric : Metric.withRatio()) {
      headings.add(metric.toString());
    }
    rows.add(headings);
    CaseReport.Summary first = report.summaries().get(0);
    for (CaseReport.Summary summary : report.summaries().subList(1, report.summaries().size())) {
      int rounds = report.runs(summary.mode()).size();
      List<String> row = new ArrayList<>(List.of(summary.mode() + " / " + first.mode()));
      for (Metric metric : Metric.withRatio()) {
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

  private static Map<String, Long> sum(
      List<RunResult> runs, Function<RunResult, Map<String, Long>> counts) {
    Map<String, Long> sums = new TreeMap<>();
    runs.forEach(run -> counts.apply(run).forEach((name, n) -> sums.merge(name, n, Long::sum)));
    return sums;
  }

  static String counts(Map<String, Long> byName) {
    return byName.isEmpty()
        ? "none"
        : byName.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .collect(Collectors.joining(" "));
  }
}
