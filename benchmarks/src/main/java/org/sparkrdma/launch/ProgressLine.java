// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.Optional;

/**
 * How far a phase of an application is, as one line that its driver prints for whoever started it.
 *
 * @param unit what is counted, one word
 */
public record ProgressLine(String phase, int done, int total, String unit) {
  private static final String MARK = "@progress";
  private static final int FIELDS = 5;

  /** A line read back; empty for any other line. */
  public static Optional<ProgressLine> parse(String line) {
    String[] fields = line.split(" ", FIELDS);
    if (fields.length != FIELDS || !fields[0].equals(MARK)) {
      return Optional.empty();
    }
    return Optional.of(
        new ProgressLine(
            fields[4], Integer.parseInt(fields[1]), Integer.parseInt(fields[2]), fields[3]));
  }

  /** The line. */
  @Override
  public String toString() {
    return String.join(" ", MARK, Integer.toString(done), Integer.toString(total), unit, phase);
  }
}
