// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.matrix;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import java.util.TreeMap;

/**
 * Result of one cell, for the report and the page.
 *
 * @param java feature version of Java
 * @param javaVersion full version of Java; null when no application ran
 * @param answerRight whether both runs gave the same rows and the same sorted records
 * @param bytesByRead shuffle bytes that the plug-in read by RDMA READ
 * @param bytesByTcp shuffle bytes that the plug-in read by TCP
 * @param fallbacks blocks or reads that used TCP, by reason
 * @param problem the reason why the cell failed, in one sentence; null when it passed
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record CellResult(
    String spark,
    String scala,
    String java,
    String javaVersion,
    boolean answerRight,
    long bytesByRead,
    long bytesByTcp,
    Map<String, Long> fallbacks,
    double seconds,
    String problem) {
  private static final String FALLBACK_PREFIX = "fallback.";

  /** A cell whose two applications ran to their end. */
  static CellResult compared(Cell cell, MatrixResult soft, double seconds, String difference) {
    long byRead = soft.counters().getOrDefault("rdma.bytes.read", 0L);
    Map<String, Long> fallbacks = new TreeMap<>();
    soft.counters()
        .forEach(
            (name, count) -> {
              if (name.startsWith(FALLBACK_PREFIX) && count != 0) {
                fallbacks.put(name.substring(FALLBACK_PREFIX.length()), count);
              }
            });
    String noRead = byRead == 0 ? "no byte was read by RDMA READ" : null;
    return new CellResult(
        cell.spark().version(),
        cell.spark().scala(),
        Integer.toString(cell.java()),
        soft.javaVersion(),
        difference == null,
        byRead,
        soft.counters().getOrDefault("tcp.bytes.read", 0L),
        fallbacks,
        seconds,
        difference != null ? difference : noRead);
  }

  /** A cell whose cluster or application failed. */
  static CellResult failed(Cell cell, double seconds, String problem) {
    return new CellResult(
        cell.spark().version(),
        cell.spark().scala(),
        Integer.toString(cell.java()),
        null,
        false,
        0,
        0,
        Map.of(),
        seconds,
        problem);
  }

  @JsonIgnore
  boolean hasPassed() {
    return problem == null;
  }
}
