// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.executors;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds in a log what an executor survives, so that the tests may pass nevertheless: violated
 * assertions of this project, and RDMA that did not start.
 */
public final class Violations {
  private static final String ERROR = AssertionError.class.getName();
  private static final String OURS = "\tat org.sparkrdma.";

  private static final String WITHOUT_RDMA = "RDMA is not used in this executor";

  private Violations() {}

  /** Lines of executors whose device did not open, or that use no RDMA for another reason. */
  public static List<String> withoutRdma(List<String> log) {
    return log.stream().filter(line -> line.contains(WITHOUT_RDMA)).toList();
  }

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
