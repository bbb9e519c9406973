// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.suites;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds violated assertions of this project in a log. An executor survives some of them and falls
 * back to TCP, so the tests may pass nevertheless.
 */
public final class Violations {
  private static final String ERROR = AssertionError.class.getName();
  private static final String OURS = "\tat org.sparkrdma.";

  private Violations() {}

  /** Violations, each with the code line of the assertion. */
  public static List<String> in(List<String> log) {
    List<String> violations = new ArrayList<>();
    for (int i = 0; i + 1 < log.size(); i++) {
      String line = log.get(i);
      boolean error = line.startsWith(ERROR) || line.startsWith("Caused by: " + ERROR);
      if (error && log.get(i + 1).startsWith(OURS)) {
        violations.add(line + log.get(i + 1));
      }
    }
    return violations;
  }
}
