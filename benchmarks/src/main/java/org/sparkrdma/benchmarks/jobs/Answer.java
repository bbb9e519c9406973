// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The result of a job as a digest that does not depend on the order of its rows.
 *
 * @param rows number of rows
 * @param digest sum of the rows' digests, in hexadecimal digits
 */
public record Answer(long rows, String digest) {
  /** An answer from the number of rows and the sum of their digests modulo 2^64. */
  static Answer of(long rows, long digestSum) {
    return new Answer(rows, Long.toHexString(digestSum));
  }

  /** An answer whose rows have an order: the digest of a row depends on its index. */
  public static Answer ofRows(List<String> rows) {
    long sum = 0;
    for (int i = 0; i < rows.size(); i++) {
      byte[] row = (i + "|" + rows.get(i)).getBytes(StandardCharsets.UTF_8);
      sum += NoiseBlocks.checksum(row);
    }
    return of(rows.size(), sum);
  }

  /** The difference from the expected answer, in one sentence; empty if they are equal. */
  public Optional<String> difference(Answer expected) {
    return equals(expected)
        ? Optional.empty()
        : Optional.of(
            "rows=%d digest=%s instead of rows=%d digest=%s"
                .formatted(rows, digest, expected.rows, expected.digest));
  }
}
