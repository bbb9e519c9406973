// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Notices that the agent's thread does not return from a call of the device, where all time-outs of
 * blocks would wait as well. Confined to the thread that checks.
 *
 * <p>It counts checks instead of time: after a pause of the whole process one check finds the agent
 * where it was, and the next one does not.
 */
final class AgentWatch {
  /** Interval of the checks. */
  static final Duration INTERVAL = Duration.ofSeconds(1);

  /** An idle agent sleeps for up to a second. */
  private static final int MIN_CHECKS = 5;

  private final LongSupplier iterations;
  private final int maxChecks;
  private long seen;
  private int unchanged;

  /**
   * @param iterations number of iterations of the agent, read from any thread
   * @param limit time after which the agent hangs, if it is at least {@link #MIN_CHECKS} intervals
   */
  AgentWatch(LongSupplier iterations, Duration limit) {
    this.iterations = iterations;
    this.maxChecks = (int) Math.max(MIN_CHECKS, limit.dividedBy(INTERVAL));
  }

  /** One check; true once, when none of the last ones has seen an iteration. */
  boolean findsHang() {
    long now = iterations.getAsLong();
    unchanged = now == seen ? unchanged + 1 : 0;
    seen = now;
    return unchanged == maxChecks;
  }

  /** Time for which the agent hangs when {@link #findsHang} says so. */
  Duration limit() {
    return INTERVAL.multipliedBy(maxChecks);
  }
}
