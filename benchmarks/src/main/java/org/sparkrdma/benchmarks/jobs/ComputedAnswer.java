// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.cluster.LaunchException;

/**
 * The answer of a run, with its rows if it is a table: they show where two answers differ.
 *
 * @param summary what reports keep of it
 * @param rows the first of them, in their order; empty if the answer is no table
 */
public record ComputedAnswer(Answer summary, List<String> rows) {
  /** Rows that are kept; the summary is of all. */
  private static final int MAX_ROWS = 100_000;

  private static final int MAX_CHARACTERS = 400;

  /** An answer that is no table. */
  public static ComputedAnswer of(Answer summary) {
    return new ComputedAnswer(summary, List.of());
  }

  /** A table whose rows have an order. */
  public static ComputedAnswer ofRows(List<String> rows) {
    return new ComputedAnswer(
        Answer.ofRows(rows), List.copyOf(rows.subList(0, Math.min(MAX_ROWS, rows.size()))));
  }

  /**
   * The difference from the expected answer; empty if all kept rows and the summaries are equal. Of
   * tables it has the first row that differs.
   */
  public Optional<String> difference(ComputedAnswer expected) {
    if (equals(expected)) {
      return Optional.empty();
    }
    String sentence = summary.difference(expected.summary).orElse("equal digests");
    return Optional.of(sentence + rows(expected));
  }

  private String rows(ComputedAnswer expected) {
    for (int i = 0; i < Math.max(rows.size(), expected.rows.size()); i++) {
      if (!row(i).equals(expected.row(i))) {
        return "; row %d: %s instead of %s".formatted(i + 1, row(i), expected.row(i));
      }
    }
    return "";
  }

  /** The row as text, its beginning if it is long. */
  private String row(int index) {
    if (index >= rows.size()) {
      return "no row";
    }
    String row = rows.get(index);
    return row.length() <= MAX_CHARACTERS
        ? "'" + row + "'"
        : "'%s...' (%d characters)".formatted(row.substring(0, MAX_CHARACTERS), row.length());
  }

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
    private static Answer ofRows(List<String> rows) {
      long sum = 0;
      for (int i = 0; i < rows.size(); i++) {
        byte[] row = (i + "|" + rows.get(i)).getBytes(StandardCharsets.UTF_8);
        sum += GroupBy.NoiseBlocks.checksum(row);
      }
      return of(rows.size(), sum);
    }

    /**
     * Compares the answer with that of the input.
     *
     * @throws LaunchException when they differ
     */
    void requireAllOf(Answer input) throws LaunchException {
      Optional<String> difference = difference(input);
      if (difference.isPresent()) {
        throw new LaunchException("records were lost or changed: " + difference.get());
      }
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
}
