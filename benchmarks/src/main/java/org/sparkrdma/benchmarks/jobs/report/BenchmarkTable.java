// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
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
    }
    return text.toString().stripTrailing();
  }

  /** The shuffles with median and quartiles of each metric, the headings first. */
  static List<List<String>> values(CaseReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("shuffle"));
    for (Metric metric : Metric.values()) {
      headings.add(metric + " " + metric.unit());
    }
    headings.addAll(List.of("by READ", "by TCP", "local", "remote blocks"));
    headings.addAll(List.of("waits for memory", "fallbacks"));
    rows.add(headings);
    report.summaries().forEach(summary -> rows.add(values(report, summary)));
    return rows;
  }

  /** Bytes and blocks are those of the last round; they differ by the placement of tasks only. */
  private static List<String> values(CaseReport report, CaseReport.Summary summary) {
    List<RunResult> runs = report.runs(summary.mode());
    RunResult last = runs.get(runs.size() - 1);
    List<String> row = new ArrayList<>(List.of(summary.mode().toString()));
    for (Metric metric : Metric.values()) {
      row.add(format(summary.values().get(metric), metric.decimals(), runs.size()));
    }
    row.add(new DataSize(last.bytes().read()).toString());
    row.add(new DataSize(last.bytes().tcp()).toString());
    row.add(new DataSize(last.bytes().local()).toString());
    row.add(String.format(Locale.ROOT, "%,d", last.blocks().read() + last.blocks().tcp()));
    row.add(counts(sum(runs)));
    row.add(counts(last.fallbacks()));
    return row;
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
      int rounds = report.runs(summary.mode()).size();
      List<String> row = new ArrayList<>(List.of(summary.mode() + " / " + first.mode()));
      for (Metric metric : Metric.values()) {
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

  /** Waits of all rounds, because the longest of them matters. */
  private static Map<String, Long> sum(List<RunResult> runs) {
    Map<String, Long> sums = new TreeMap<>();
    runs.forEach(run -> run.memoryWaits().forEach((time, n) -> sums.merge(time, n, Long::sum)));
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
