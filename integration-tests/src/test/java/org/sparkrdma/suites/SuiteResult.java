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

  long count(TestOutcome.Kind kind) {
    return outcomes.stream().filter(outcome -> outcome.kind() == kind).count();
  }
}
