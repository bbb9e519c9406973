// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

/**
 * The end of one case.
 *
 * @param name group and method, as in Reads.shouldReadABlock()
 * @param ms its duration in milliseconds; 0 when it was skipped
 * @param detail the reason of a skip, or the kind and place of a failure; without values of this
 *     host
 */
record CaseResult(String name, Outcome outcome, long ms, String detail) {
  /** The three ways in which a case ends. */
  enum Outcome {
    PASSED,
    FAILED,
    SKIPPED
  }
}
