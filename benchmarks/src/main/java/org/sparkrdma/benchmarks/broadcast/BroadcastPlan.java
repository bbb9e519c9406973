// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.broadcast;

import java.util.List;

/**
 * Input of the driver, as JSON.
 *
 * @param join whether each value is the smaller table of an SQL join
 * @param modes to compare; ratios are to the first
 * @param rounds in which each mode has one application
 * @param warmUps values before the measured ones, in the same executors
 */
record BroadcastPlan(
    boolean join, List<BroadcastShape> shapes, List<BroadcastMode> modes, int rounds, int warmUps) {
  /** Measured values of each application, whose median counts. */
  static final int VALUES = 3;

  /** The round that only counts what the driver sends. */
  static final int EGRESS_ROUND = 0;
}
