// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.launch.Quartiles;

/** The queries of a job under each shuffle. Stateless. */
final class QueryTable {
  private QueryTable() {}

  /** Whether the job consists of several queries whose times were measured. */
  static boolean isFor(CaseReport report) {
    return names(report).size() > 1;
  }

  /** Wall time of each query, then its ratio to the first shuffle; the headings first. */
  static List<List<String>> rows(CaseReport report) {
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
  private static Quartiles ratio(CaseReport report, ShuffleMode mode, String query) {
    return Quartiles.of(
        report.ratios(mode, run -> run.querySeconds().getOrDefault(query, Double.NaN)),
        Double::doubleValue);
  }

  private static List<String> names(CaseReport report) {
    return report.runs().isEmpty()
        ? List.of()
        : List.copyOf(report.runs().get(0).querySeconds().keySet());
  }

  private static List<ShuffleMode> modes(CaseReport report) {
    return report.summaries().stream().map(CaseReport.Summary::mode).toList();
  }

  private static List<ShuffleMode> others(CaseReport report) {
    return modes(report).subList(1, modes(report).size());
  }
}
