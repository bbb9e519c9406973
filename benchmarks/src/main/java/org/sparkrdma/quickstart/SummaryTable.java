// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The runs as a table of plain text, one row for each. */
final class SummaryTable {
  private static final List<String> HEADINGS =
      List.of(
          "shuffle",
          "sort s",
          "records",
          "output checksum",
          "by RDMA READ",
          "by TCP",
          "local",
          "executors' CPU s",
          "fallbacks");

  private SummaryTable() {}

  static String of(Report report) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADINGS);
    report.runs().forEach(run -> rows.add(row(run)));
    return TextTable.of(rows, column -> column == 0 || column == HEADINGS.size() - 1);
  }

  private static List<String> row(RunReport run) {
    return List.of(
        run.mode().toString(),
        String.format(Locale.ROOT, "%.1f", run.seconds()),
        String.format(Locale.ROOT, "%,d", run.records()),
        run.checksum(),
        new DataSize(run.bytes().rdma()).toString(),
        new DataSize(run.bytes().tcp()).toString(),
        new DataSize(run.bytes().local()).toString(),
        String.format(Locale.ROOT, "%.1f", run.executorCpuSeconds()),
        fallbacks(run.fallbacks()));
  }

  private static String fallbacks(Map<String, Long> byReason) {
    return byReason.isEmpty()
        ? "none"
        : byReason.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue())
            .collect(Collectors.joining(" "));
  }
}
