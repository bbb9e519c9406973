// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.Optional;

/**
 * Progress of a phase of an application: one line that the driver prints for its launcher.
 *
 * @param unit unit of the counts, one word
 */
public record ProgressLine(String phase, int done, int total, String unit) {
  private static final String MARK = "@progress";
  private static final int FIELDS = 5;

  /** Parses a line; empty when it is not a line of progress. */
  public static Optional<ProgressLine> parse(String line) {
    String[] fields = line.split(" ", FIELDS);
    if (fields.length != FIELDS || !fields[0].equals(MARK)) {
      return Optional.empty();
    }
    return Optional.of(
        new ProgressLine(
            fields[4], Integer.parseInt(fields[1]), Integer.parseInt(fields[2]), fields[3]));
  }

  /** The line to print. */
  @Override
  public String toString() {
    return String.join(" ", MARK, Integer.toString(done), Integer.toString(total), unit, phase);
  }
}
