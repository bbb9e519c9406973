// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.time.Duration;
import java.util.List;

/**
 * What a run brought: each test's outcome, how long the JVM lived, and how its blocks came.
 *
 * @param blocks of all its applications
 */
record SuiteResult(
    SuiteRun run, List<TestOutcome> outcomes, Duration took, TransferLog.Blocks blocks) {

  long count(TestOutcome.Kind kind) {
    return outcomes.stream().filter(outcome -> outcome.kind() == kind).count();
  }
}
