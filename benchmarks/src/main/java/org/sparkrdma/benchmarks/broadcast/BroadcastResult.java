// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.Environment;

/**
 * Result of the driver, and the report, as JSON.
 *
 * @param runs in the order of time
 */
record BroadcastResult(Environment environment, BroadcastPlan plan, List<Run> runs) {

  /**
   * One application.
   *
   * @param round {@link BroadcastPlan#EGRESS_ROUND}, which has {@code egress} alone, or from 1
   * @param figures medians of the measured values, by name: {@code broadcast}, {@code job}, {@code
   *     both} and {@code value} in seconds, {@code egress} and {@code read} as multiples of the
   *     bytes; of a join there is neither {@code broadcast} nor {@code value}
   */
  record Run(BroadcastShape shape, BroadcastMode mode, int round, Map<String, Double> figures) {}
}
