// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.benchmarks.jobs.plan.ShuffleMode;

/**
 * A row of a {@link DocumentedTable}, of one shuffle in one shape of a recorded report: its values,
 * or its ratios to the first shuffle. Label and first heading say of which.
 */
record DocumentedRow(DocumentedTable table, List<String> cells) {
  private static final Pattern SIZE = Pattern.compile("\\b(\\d+ [KMG]iB|query \\d+[a-z]?)\\b");

  /** Other names of shuffles in labels. */
  private static final Map<ShuffleMode, String> OTHER_NAMES =
      Map.of(ShuffleMode.POOL_1G, "1 GiB", ShuffleMode.POOL_64M, "64 MiB");

  /** A shuffle in a shape, with or without the division by the first one. */
  record Subject(CaseReport of, ShuffleMode mode, boolean ratio) {
    @Override
    public String toString() {
      return "%s %s%s".formatted(of.shape(), mode, ratio ? " ratios" : "");
    }

    /** The cell that the program prints in a column; empty if it has no such column. */
    private Optional<String> cell(String column) {
      List<List<String>> printed = ratio ? BenchmarkTable.ratios(of) : BenchmarkTable.values(of);
      int index = printed.get(0).indexOf(ratio ? withoutUnit(column) : column);
      return printed.stream()
          .skip(1)
          .filter(row -> index > 0 && row.get(0).split(" / ", 2)[0].equals(mode.toString()))
          .map(row -> row.get(index))
          .findFirst();
    }

    private static String withoutUnit(String column) {
      return Arrays.stream(Metric.values())
          .filter(metric -> metric.heading().equals(column))
          .map(Metric::toString)
          .findFirst()
          .orElse(column);
    }
  }

  /** The subjects that the row's label and the table's first heading name; one in a clear row. */
  List<Subject> subjects(BenchmarkReport report) {
    List<Subject> subjects = new ArrayList<>();
    List<ShuffleMode> modes = named(report, label());
    if (modes.isEmpty()) {
      modes = named(report, table.headings().get(0));
    }
    for (CaseReport each : cases(report)) {
      for (ShuffleMode mode : modes) {
        subjects.add(new Subject(each, mode, isRatio()));
      }
    }
    return subjects;
  }

  private String label() {
    return cells.get(0);
  }

  /** Columns of ratios have no unit. */
  private boolean isRatio() {
    return label().contains(" / ") || table.headings().contains(Metric.WALL.toString());
  }

  /** The shuffles that a text names before a division. */
  private static List<ShuffleMode> named(BenchmarkReport report, String text) {
    String dividend = text.startsWith("to ") ? "" : text.split(" / ", 2)[0];
    return report.plan().modes().stream()
        .filter(mode -> hasWord(dividend, mode.toString()) || hasOtherName(dividend, mode))
        .toList();
  }

  private static boolean hasOtherName(String text, ShuffleMode mode) {
    return OTHER_NAMES.containsKey(mode) && hasWord(text, OTHER_NAMES.get(mode));
  }

  private static boolean hasWord(String text, String word) {
    return Pattern.compile("\\b" + Pattern.quote(word) + "\\b").matcher(text).find();
  }

  /** The shapes with a size or query that label or heading name; all if none has one. */
  private List<CaseReport> cases(BenchmarkReport report) {
    List<CaseReport> sized =
        report.cases().stream()
            .filter(each -> names(label(), each) || names(table.headings().get(0), each))
            .toList();
    return sized.isEmpty() ? report.cases() : sized;
  }

  private static boolean names(String text, CaseReport report) {
    Matcher sizes = SIZE.matcher(text);
    while (sizes.find()) {
      if (hasWord(report.description(), sizes.group())) {
        return true;
      }
    }
    return false;
  }

  /** Differences to what the program prints; empty if every column shows that. */
  List<String> differences(Subject subject) {
    List<String> differences = new ArrayList<>();
    for (int column = 1; column < cells.size(); column++) {
      String shown = cells.get(column);
      String heading = table.headings().get(column);
      Optional<String> printed = subject.cell(heading);
      if (!shown.isEmpty() && printed.filter(cell -> isSame(shown, cell)).isEmpty()) {
        differences.add(
            "%s of %s is %s, the page shows %s"
                .formatted(heading, subject, printed.orElse("unknown"), shown));
      }
    }
    return differences;
  }

  /** Amounts of bytes may have no range, and a decimal that is zero. */
  private static boolean isSame(String shown, String printed) {
    String amount = shown.equals("0") ? "0 B" : shown.replace(".0 ", " ");
    return printed.equals(shown) || printed.equals(amount) || printed.startsWith(amount + " (");
  }
}
