// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.regress;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.benchmarks.jobs.environment.Environment;
import org.sparkrdma.benchmarks.jobs.report.Verdict;
import org.sparkrdma.launch.TextTable;
import org.sparkrdma.launch.git.Commit;

/**
 * Result of two commits that ran in turn on one machine.
 *
 * @param environment the machine at the start
 * @param changes one for each ratio
 */
record RegressReport(
    String command, Environment environment, Commit base, Commit head, List<PairedChange> changes) {
  private static final int TEXT_COLUMNS = 3;
  private static final int VERDICT_COLUMN = 6;

  /** Number of ratios that are worse beyond their spread. */
  long worse() {
    return changes.stream().filter(change -> change.verdict() == Verdict.WORSE).count();
  }

  /** The report as plain text. */
  String table() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(PairedChange.headings());
    changes.forEach(change -> rows.add(change.row()));
    return "base %s%nhead %s%n%n%s"
        .formatted(
            base,
            head,
            TextTable.of(rows, column -> column < TEXT_COLUMNS || column == VERDICT_COLUMN));
  }
}
