// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The time for which a {@link RegisteredPool} does not call a device that has refused a slab.
 *
 * <p>It ends when a region of the budget is closed, at the latest after {@value #FIRST_MS} ms. A
 * refusal after the end of a pause makes the next one twice as long, at most {@value #MAX_MS} ms;
 * one before its end, after a region was closed, begins it anew. A slab that is registered ends the
 * doubling. Guarded by the pool. Allocates nothing.
 */
final class RefusalPause {
  /**
   * Time after which the device is tried again, because another process may have freed memory.
   * Blocks wait for 30 ms, so a refusal of the moment must not last longer.
   */
  static final long FIRST_MS = 10;

  static final long MAX_MS = 100;

  private static final long FIRST_NS = TimeUnit.MILLISECONDS.toNanos(FIRST_MS);
  private static final long MAX_NS = TimeUnit.MILLISECONDS.toNanos(MAX_MS);

  private final PinnedBudget budget;
  private final LongSupplier nanoClock;

  /** Whether the device has refused the last slab, at {@link #refusedNs}. */
  private boolean refused;

  private long refusedNs;

  /** Time from then on without a call of the device; 0 before the first refusal in a row. */
  private long pauseNs;

  /** {@link PinnedBudget#closedRegions()} before the device refused. */
  private long closedRegions;

  /** Whether the present attempt began before the end of the pause, since a region was closed. */
  private boolean attemptIsEarly;

  RefusalPause(PinnedBudget budget, LongSupplier nanoClock) {
    this.budget = budget;
    this.nanoClock = nanoClock;
  }

  /** Whether the device has refused a slab, and it is too early to try again. */
  boolean isActive() {
    return budget.closedRegions() == closedRegions && hasTimeLeft();
  }

  private boolean hasTimeLeft() {
    return refused && nanoClock.getAsLong() - refusedNs < pauseNs;
  }

  /** The device is called next. A region that is closed meanwhile is a reason to try again. */
  void beginAttempt() {
    attemptIsEarly = hasTimeLeft();
    closedRegions = budget.closedRegions();
    refused = false;
  }

  void onRegistered() {
    pauseNs = 0;
  }

  void onRefused() {
    refused = true;
    refusedNs = nanoClock.getAsLong();
    if (!attemptIsEarly) {
      pauseNs = Math.min(Math.max(2 * pauseNs, FIRST_NS), MAX_NS);
    }
  }
}
