// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import java.util.List;
import java.util.Map;

/**
 * What the application has done; handed over as JSON.
 *
 * @param jobs that gave the right answer, by name
 * @param readings of the executors' own numbers, in the order they were taken
 * @param objection which job failed or gave a wrong answer, in one sentence; null when nothing was
 */
public record SoakResult(Map<String, Integer> jobs, List<Reading> readings, String objection) {

  /**
   * What an executor said of itself.
   *
   * @param seconds since the application began
   * @param nonHeapBytes that its JVM holds for classes and compiled code
   * @param counters of the plug-in
   */
  public record Reading(
      double seconds, String executor, long nonHeapBytes, Map<String, Long> counters) {}
}
