// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.executors.LeakLog;

/**
 * Collects results and prints them as a table with a line of totals. The last column has the
 * executors that were judged by the leak check, of all that ran.
 */
final class SummaryTable {
  private static final String ROW = "%-60s %-9s %6s %6s %8s %8s %8s %8s %8s%n";

  private final List<SuiteResult> results = new ArrayList<>();

  void add(SuiteResult result) {
    results.add(result);
  }

  String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        ROW.formatted(
            "suite", "setting", "passed", "failed", "skipped", "seconds", "by READ", "by TCP",
            "judged"));
    results.forEach(result -> text.append(row(result)));
    results.forEach(result -> text.append(skips(result)));
    text.append(
        "%d passed, %d failed, %d skipped in %d runs%n"
            .formatted(
                total(TestOutcome.Kind.PASSED),
                total(TestOutcome.Kind.FAILED),
                total(TestOutcome.Kind.SKIPPED),
                results.size()));
    return text.toString();
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

  private static String skips(SuiteResult result) {
    StringBuilder text = new StringBuilder();
    for (TestOutcome outcome : result.outcomes()) {
      if (outcome.kind() == TestOutcome.Kind.SKIPPED) {
        text.append(
            "skipped: %s \"%s\": %s%n"
                .formatted(
                    result.run().label(outcome.suiteClass()), outcome.name(), outcome.detail()));
      }
    }
    return text.toString();
  }

  private long total(TestOutcome.Kind kind) {
    return results.stream().mapToLong(result -> result.count(kind)).sum();
  }
}
