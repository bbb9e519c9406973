// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A table of job results in a page: one with a column for the wall time.
 *
 * @param file name of the recorded report that the text names last before the table; empty if it
 *     names none
 * @param headings of all columns
 * @param rows below the headings
 */
record DocumentedTable(String file, List<String> headings, List<List<String>> rows) {
  private static final Pattern RECORDED = Pattern.compile("benchmarks/results/([\\w.-]+\\.json)");

  /** All such tables of a page. */
  static List<DocumentedTable> of(String page) {
    List<DocumentedTable> tables = new ArrayList<>();
    String file = "";
    List<List<String>> rows = new ArrayList<>();
    for (String line : (page + "\n\n").split("\n", -1)) {
      if (line.startsWith("|")) {
        rows.add(cells(line));
        continue;
      }
      if (rows.size() > 2 && isOfJob(rows.get(0))) {
        // The second row draws the line below the headings.
        tables.add(
            new DocumentedTable(file, rows.get(0), List.copyOf(rows.subList(2, rows.size()))));
      }
      rows.clear();
      Matcher named = RECORDED.matcher(line);
      while (named.find()) {
        file = named.group(1);
      }
    }
    return tables;
  }

  private static boolean isOfJob(List<String> headings) {
    return headings.contains(Metric.WALL.toString()) || headings.contains(Metric.WALL.heading());
  }

  private static List<String> cells(String line) {
    String inner = line.strip().replaceAll("^\\||\\|$", "");
    return Arrays.stream(inner.split("\\|", -1)).map(DocumentedTable::cell).toList();
  }

  private static String cell(String text) {
    return text.strip().replace("*", "");
  }
}
