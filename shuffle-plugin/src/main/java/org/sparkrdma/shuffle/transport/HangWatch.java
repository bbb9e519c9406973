// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Notices that a thread does not return from a call of the device: that of the agent, which has all
 * time-outs of blocks. Confined to the thread that checks.
 *
 * <p>It counts checks instead of time: after a pause of the whole process one check finds the
 * thread where it was, and the next one does not.
 */
final class HangWatch {
  /** Interval of the checks. */
  static final Duration INTERVAL = Duration.ofSeconds(1);

  /** A thread without work takes a turn each second. */
  private static final int MIN_CHECKS = 5;

  private final LongSupplier turns;
  private final int maxChecks;
  private long seen;
  private int unchanged;

  /**
   * @param turns number of turns that the thread has taken; called at each check
   * @param limit time after which the thread hangs, if it is at least {@link #MIN_CHECKS} intervals
   */
  HangWatch(LongSupplier turns, Duration limit) {
    this.turns = turns;
    this.maxChecks = (int) Math.max(MIN_CHECKS, limit.dividedBy(INTERVAL));
  }

  /** One check; true once, when none of the last ones has seen a turn. */
  boolean findsHang() {
    long now = turns.getAsLong();
    unchanged = now == seen ? unchanged + 1 : 0;
    seen = now;
    return unchanged == maxChecks;
  }

  /** Time for which the thread hangs when {@link #findsHang} says so. */
  Duration limit() {
    return INTERVAL.multipliedBy(maxChecks);
  }
}
