// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

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

  /** The fallback that counts reads of tasks and not blocks. */
  private static final String WHOLE_READS = "unavailable";

  private BenchmarkTable() {}

  /** Values of each case, then ratios if there are enough rounds. */
  public static String of(BenchmarkReport report) {
    StringBuilder text = new StringBuilder();
    int rounds = report.plan().rounds();
    for (CaseReport each : report.cases()) {
      text.append(
          "%s %s: %s; median (quartiles) of %d round%s%n"
              .formatted(
                  report.plan().job(),
                  each.shape(),
                  each.description(),
                  rounds,
                  rounds == 1 ? "" : "s"));
      int lastColumn = values(each).get(0).size() - 1;
      text.append(TextTable.of(values(each), column -> column == 0 || column == lastColumn))
          .append('\n');
      if (each.summaries().size() > 1 && rounds >= MIN_ROUNDS_FOR_RATIOS) {
        text.append(TextTable.of(ratios(each), column -> column == 0)).append('\n');
      }
      if (QueryTable.isFor(each)) {
        text.append(TextTable.of(QueryTable.rows(each), column -> column == 0)).append('\n');
        QueryTable.slowerQueries(each).forEach(line -> text.append(line).append('\n'));
      }
    }
    if (rounds > 1) {
      text.append("Bytes are medians (least..most) of the rounds; fallbacks are sums of them.\n");
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

  /** One run under each shuffle in five columns, and its fallbacks below; for the quick start. */
  public static String brief(BenchmarkReport report) {
    CaseReport one = report.cases().get(0);
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("shuffle", "wall s", "fetch wait s", "executor CPU s", "remote bytes"));
    StringBuilder notes = new StringBuilder();
    for (RunResult run : one.runs()) {
      rows.add(
          List.of(
              run.mode().toString(),
              String.format(Locale.ROOT, "%.2f", run.seconds()),
              String.format(Locale.ROOT, "%.2f", run.fetchWaitSeconds()),
              String.format(Locale.ROOT, "%.2f", run.executorCpuSeconds()),
              remoteBytes(run.bytes())));
      if (!run.fallbacks().isEmpty()) {
        notes.append("%s: fallbacks to TCP: %s%n".formatted(run.mode(), counts(run.fallbacks())));
      }
    }
    return "%s %s: %s%n%s%s"
        .formatted(
            report.plan().job(),
            one.shape(),
            one.description(),
            TextTable.of(rows, column -> column == 0 || column == rows.get(0).size() - 1),
            notes)
        .stripTrailing();
  }

  private static String remoteBytes(RunResult.ByPath bytes) {
    String read = new DataSize(bytes.read()) + " by READ";
    String tcp = new DataSize(bytes.tcp()) + " by TCP";
    if (bytes.read() == 0) {
      return tcp;
    }
    return bytes.tcp() == 0 ? read : read + ", " + tcp;
  }

  /** The shuffles with median and quartiles of each metric, the headings first. */
  static List<List<String>> values(CaseReport report) {
    List<List<String>> rows = new ArrayList<>();
    List<String> headings = new ArrayList<>(List.of("shuffle"));
    for (Metric metric : Metric.values()) {
      headings.add(metric.heading());
    }
    headings.addAll(List.of("by READ", "by TCP", "local", "remote blocks", "fallbacks"));
    rows.add(headings);
    report.summaries().forEach(summary -> rows.add(values(report, summary)));
    return rows;
  }

  private static List<String> values(CaseReport report, CaseReport.Summary summary) {
    List<RunResult> runs = report.runs(summary.mode());
    List<String> row = new ArrayList<>(List.of(summary.mode().toString()));
    for (Metric metric : Metric.values()) {
      row.add(format(summary.values().get(metric), metric.decimals(), runs.size()));
    }
    row.add(bytes(runs, run -> run.bytes().read()));
    row.add(bytes(runs, run -> run.bytes().tcp()));
    row.add(bytes(runs, run -> run.bytes().local()));
    long[] blocks = sorted(runs, run -> run.blocks().read() + run.blocks().tcp());
    row.add(String.format(Locale.ROOT, "%,d", blocks[blocks.length / 2]));
    row.add(fallbacks(runs));
    return row;
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
    String counts = counts(sum(runs));
    return rounds.isEmpty() || rounds.size() == runs.size()
        ? counts
        : "%s in round%s %s"
            .formatted(counts, rounds.size() == 1 ? "" : "s", String.join(" ", rounds));
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

  private static Map<String, Long> sum(List<RunResult> runs) {
    Map<String, Long> sums = new TreeMap<>();
    runs.forEach(run -> run.fallbacks().forEach((name, n) -> sums.merge(name, n, Long::sum)));
    return sums;
  }

  private static String counts(Map<String, Long> byReason) {
    return byReason.isEmpty()
        ? "none"
        : new TreeMap<>(byReason)
            .entrySet().stream()
                .map(
                    entry ->
                        "%d %s (%s)"
                            .formatted(
                                entry.getValue(),
                                entry.getKey().equals(WHOLE_READS) ? "reads" : "blocks",
                                entry.getKey()))
                .collect(Collectors.joining(", "));
  }
}
