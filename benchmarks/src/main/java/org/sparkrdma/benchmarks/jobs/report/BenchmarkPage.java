// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.sparkrdma.benchmarks.jobs.environment.Environment;

/** A report as an HTML page. Stateless. */
final class BenchmarkPage {
  private BenchmarkPage() {}

  static String of(BenchmarkReport report) {
    HtmlPage page = new HtmlPage("Shuffle benchmark: " + report.plan().job());
    page.paragraph(
        "Bars are medians of the rounds, thin bars reach from the lower to the upper quartile,"
            + " points are rounds. Each round runs every shuffle once and begins with another"
            + " one. Fetch wait is the time that tasks waited for remote blocks, summed over"
            + " tasks, as Spark counts it. All answers were equal.");
    ReportNotes.of(report.plan()).forEach(page::paragraph);
    for (CaseReport each : report.cases()) {
      page.heading(report.plan().job() + " " + each.shape() + ": " + each.description());
      page.beginCharts();
      for (Metric metric : Metric.values()) {
        if (each.summaries().stream().allMatch(one -> one.values().containsKey(metric))) {
          page.chart(metric.toString(), metric.unit(), bars(each, metric));
        }
      }
      page.endCharts();
      page.table(BenchmarkTable.values(each));
      if (each.summaries().size() > 1) {
        page.table(BenchmarkTable.ratios(each));
      }
      if (QueryTable.isFor(each)) {
        page.table(QueryTable.rows(each));
        QueryTable.slowerQueries(each).forEach(page::paragraph);
      }
    }
    page.heading("Command and environment");
    page.textTable(environment(report));
    return page.render();
  }

  private static List<HtmlPage.Bar> bars(CaseReport report, Metric metric) {
    return report.summaries().stream()
        .map(
            summary ->
                new HtmlPage.Bar(
                    summary.mode().toString(),
                    summary.values().get(metric),
                    report.runs(summary.mode()).stream().map(metric::of).toList()))
        .toList();
  }

  static List<List<String>> environment(BenchmarkReport report) {
    Environment environment = report.environment();
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("what", "value"));
    rows.add(List.of("command", report.plan().command()));
    rows.add(List.of("date", environment.date()));
    rows.add(List.of("plug-in", orUnknown(environment.version())));
    rows.add(List.of("Spark", environment.spark()));
    rows.add(List.of("Java", environment.java()));
    rows.add(List.of("executors' JVM", orUnknown(environment.jvm())));
    rows.add(List.of("master", environment.master()));
    rows.add(List.of("executors", Integer.toString(executors(report))));
    rows.add(List.of("driver's host", environment.host()));
    rows.add(List.of("load at the start", String.format(Locale.ROOT, "%.1f", environment.load())));
    Map<String, String> settings = new TreeMap<>(environment.settings());
    settings.putAll(environment.fixedSettings());
    settings.forEach((key, value) -> rows.add(List.of(key, value)));
    report
        .plan()
        .modes()
        .forEach(
            mode ->
                new TreeMap<>(report.shuffleSettings(mode))
                    .forEach((key, value) -> rows.add(List.of(mode + ": " + key, value))));
    return rows;
  }

  /** Reports of older versions have neither. */
  private static String orUnknown(String value) {
    return value == null ? "unknown" : value;
  }

  static int executors(BenchmarkReport report) {
    return report.cases().get(0).runs().get(0).executors();
  }
}
