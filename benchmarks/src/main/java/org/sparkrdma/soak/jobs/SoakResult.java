// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import java.util.List;
import java.util.Map;

/**
 * Result of the application, as JSON.
 *
 * @param jobs number of jobs with the right answer, by name
 * @param readings counters of the executors, in the order of time
 * @param objection the job that failed or gave a wrong answer, in one sentence; null if there was
 *     none
 */
public record SoakResult(Map<String, Integer> jobs, List<Reading> readings, String objection) {

  /**
   * Counters of one executor at one time.
   *
   * @param seconds time since the start of the application
   * @param counters counters of the plug-in
   */
  public record Reading(double seconds, String executor, Map<String, Long> counters) {}
}
