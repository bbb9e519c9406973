// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkrdma.launch.TextTable;

/** A report as plain text: settings, jobs, faults, and a row for each measure of each executor. */
final class SoakTable {
  private static final List<String> HEADINGS =
      List.of("executor", "measure", "samples", "first third", "last third", "allowed", "verdict");

  private SoakTable() {}

  static String of(SoakReport report) {
    List<List<String>> rows = new ArrayList<>(List.of(HEADINGS));
    report
        .longLivedExecutors()
        .forEach(executor -> executor.trends().forEach(trend -> rows.add(row(executor, trend))));
    return "seed      %d, %.1f minutes\n".formatted(report.seed(), report.seconds() / 60)
        + "shuffle   "
        + (report.vanilla() ? "Spark's own" : "the plug-in's")
        + "\n"
        + "settings  "
        + list(report.settings())
        + "\n"
        + "jobs      "
        + list(report.result().jobs())
        + "\n"
        + "faults    "
        + list(report.faults())
        + "\n"
        + "counters  "
        + list(report.counters())
        + "\n\n"
        + "medians after the warm-up of the executors that lived through all of it\n"
        + TextTable.of(rows, column -> column <= 1 || column == HEADINGS.size() - 1);
  }

  private static List<String> row(LongLivedExecutor executor, Trend trend) {
    return List.of(
        executor.executor(),
        trend.measure().toString(),
        Integer.toString(executor.samples()),
        number(trend.first()),
        number(trend.last()),
        trend.measure().isJudged() ? "+" + number(trend.allowed()) : "",
        verdict(trend));
  }

  private static String verdict(Trend trend) {
    if (!trend.measure().isJudged()) {
      return "not judged";
    }
    return trend.isFlat() ? "flat" : "GROWS";
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private static String list(Map<String, ?> map) {
    return map.entrySet().stream()
        .map(entry -> entry.getKey() + "=" + entry.getValue())
        .collect(Collectors.joining(" "));
  }
}
