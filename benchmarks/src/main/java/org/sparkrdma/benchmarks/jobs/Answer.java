// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.util.Optional;

/**
 * What a job computed, in a form that does not depend on the order of its rows.
 *
 * @param rows number of rows
 * @param digest sum of the rows' digests, in hexadecimal digits
 */
public record Answer(long rows, String digest) {
  /** An answer from the number of rows and the sum of their digests modulo 2^64. */
  static Answer of(long rows, long digestSum) {
    return new Answer(rows, Long.toHexString(digestSum));
  }

  /** How this answer differs from the expected one, in one sentence; empty if it does not. */
  Optional<String> difference(Answer expected) {
    return equals(expected)
        ? Optional.empty()
        : Optional.of(
            "rows=%d digest=%s instead of rows=%d digest=%s"
                .formatted(rows, digest, expected.rows, expected.digest));
  }
}
