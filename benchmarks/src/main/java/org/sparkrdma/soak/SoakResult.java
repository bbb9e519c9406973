// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import java.util.Map;

/**
 * Result of the application, as JSON.
 *
 * @param jobs number of jobs with the right answer, by name
 * @param counters last counters of the plug-in in each executor that was seen, by executor
 * @param objection the job that failed or gave a wrong answer, in one sentence; null if there was
 *     none
 */
public record SoakResult(
    Map<String, Integer> jobs, Map<String, Map<String, Long>> counters, String objection) {}
