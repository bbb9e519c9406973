// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

/**
 * The outcome of one test of a suite.
 *
 * @param suiteClass the class of its suite
 * @param name its name in the suite
 * @param kind passed, failed or skipped
 * @param detail the failure with its stack, or the reason of a skip; empty when passed
 */
record TestOutcome(String suiteClass, String name, Kind kind, String detail) {
  enum Kind {
    PASSED,
    FAILED,
    SKIPPED
  }

  boolean failed() {
    return kind == Kind.FAILED;
  }
}
