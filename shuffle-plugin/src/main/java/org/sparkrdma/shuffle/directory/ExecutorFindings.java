// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Findings of the doctor in one executor, a report of their own.
 *
 * @param host Spark's name of its host
 * @param used whether it uses RDMA
 * @param lines findings that are not in order, in the order of the checks
 */
public record ExecutorFindings(String host, boolean used, List<String> lines) {
  private static final String HOST = "findings.host";
  private static final String USED = "findings.used";

  /** Keeps a copy. */
  public ExecutorFindings {
    lines = List.copyOf(lines);
  }

  Map<String, Object> values() {
    return Map.of(HOST, host, USED, used ? 1L : 0L, Figure.FINDINGS, lines);
  }

  /** The findings in the values of a report; empty when it has others. */
  public static Optional<ExecutorFindings> of(Map<String, Object> values) {
    if (values.get(Figure.FINDINGS) instanceof List<?> lines
        && values.get(HOST) instanceof String host) {
      boolean used = Long.valueOf(1).equals(values.get(USED));
      return Optional.of(
          new ExecutorFindings(host, used, lines.stream().map(String.class::cast).toList()));
    }
    return Optional.empty();
  }
}
