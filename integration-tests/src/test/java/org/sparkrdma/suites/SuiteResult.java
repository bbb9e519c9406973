// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.time.Duration;
import java.util.List;
import org.sparkrdma.executors.LeakLog;

/**
 * The result of a run: each test's outcome, the life time of the JVM, and block counts.
 *
 * @param blocks counts of all its applications
 * @param leaks leak checks of its executors
 */
record SuiteResult(
    SuiteRun run,
    List<TestOutcome> outcomes,
    Duration took,
    TransferLog.Blocks blocks,
    LeakLog leaks) {
  private static final String ROW = "%-60s %-9s %6s %6s %8s %8s %8s %8s %8s%n";

  private long count(TestOutcome.Kind kind) {
    return outcomes.stream().filter(outcome -> outcome.kind() == kind).count();
  }

  static String header() {
    return ROW.formatted(
        "suite", "setting", "passed", "failed", "skipped", "seconds", "by READ", "by TCP",
        "judged");
  }

  /** The line of a table. The last column has the executors that were judged, of all that ran. */
  String row() {
    return ROW.formatted(
        String.join(" ", run.suites()),
        run.setting().label(),
        count(TestOutcome.Kind.PASSED),
        count(TestOutcome.Kind.FAILED),
        count(TestOutcome.Kind.SKIPPED),
        took.toSeconds(),
        blocks.byRead(),
        blocks.byTcp(),
        leaks.count(LeakLog.State.JUDGED) + "/" + leaks.ran());
  }
}
