// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.util.List;
import java.util.Locale;
import org.sparkrdma.shuffle.tools.doctor.Doctor;
import org.sparkrdma.shuffle.tools.doctor.Finding;
import org.sparkrdma.shuffle.tools.doctor.Level;

/** The report of the doctor as text. */
record ReportText(Style style, LineWrap lines) {
  private static final String INDENT = " ".repeat(9);

  /** The answer, at most three steps, and the number of checks that passed. */
  String of(Doctor.Report report) {
    StringBuilder text = new StringBuilder();
    addSummary(text, report);
    List<Finding> steps = report.steps();
    for (int i = 0; i < steps.size(); i++) {
      line(text, (i + 1) + ". " + lines.wrap(steps.get(i).message(), 3));
      line(text, "   " + lines.wrap("To do: " + steps.get(i).advice(), 3));
    }
    String passed =
        String.format(
            Locale.ROOT,
            "Checks passed: %d of %d. All findings: -v.",
            report.passed(),
            report.checks());
    line(text, lines.wrap(passed, 0));
    return text.toString();
  }

  /** The answer, the findings of each check with what to do, and their number. */
  String withAllFindings(Doctor.Report report) {
    StringBuilder text = new StringBuilder();
    addSummary(text, report);
    report
        .findings()
        .forEach(
            (check, findings) -> {
              if (!findings.isEmpty()) {
                line(text, "");
                line(text, style.bold(check));
              }
              findings.forEach(finding -> add(text, finding));
            });
    line(text, "");
    String counts =
        String.format(
            Locale.ROOT,
            "Problems: %d, warnings: %d, notes: %d. Findings marked ok need nothing.",
            report.count(Level.PROBLEM),
            report.count(Level.WARNING),
            report.count(Level.NOTE));
    line(text, lines.wrap(counts, 0));
    return text.toString();
  }

  private void addSummary(StringBuilder text, Doctor.Report report) {
    Level level = report.usable() ? Level.OK : Level.PROBLEM;
    line(text, style.of(level, lines.wrap(report.summary(), 0)));
  }

  private void add(StringBuilder text, Finding finding) {
    String name = finding.level().name().toLowerCase(Locale.ROOT);
    String level = String.format(Locale.ROOT, "%-8s", name);
    String message = lines.wrap(finding.message(), INDENT.length());
    line(text, style.of(finding.level(), level) + " " + message);
    if (finding.level() != Level.OK) {
      line(text, INDENT + lines.wrap("To do: " + finding.advice(), INDENT.length()));
    }
  }

  private static void line(StringBuilder text, String line) {
    text.append(line).append(System.lineSeparator());
  }
}
