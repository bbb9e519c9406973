// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import org.sparkrdma.executors.LeakLog;

/**
 * Results as the lines of a table. The last column has the executors that were judged by the leak
 * check, of all that ran. Stateless.
 */
final class SummaryTable {
  private static final String ROW = "%-60s %-9s %6s %6s %8s %8s %8s %8s %8s%n";

  private SummaryTable() {}

  static String header() {
    return ROW.formatted(
        "suite", "setting", "passed", "failed", "skipped", "seconds", "by READ", "by TCP",
        "judged");
  }

  static String row(SuiteResult result) {
    return ROW.formatted(
        String.join(" ", result.run().suites()),
        result.run().setting().label(),
        result.count(TestOutcome.Kind.PASSED),
        result.count(TestOutcome.Kind.FAILED),
        result.count(TestOutcome.Kind.SKIPPED),
        result.took().toSeconds(),
        result.blocks().byRead(),
        result.blocks().byTcp(),
        result.leaks().count(LeakLog.State.JUDGED) + "/" + result.leaks().ran());
  }
}
