// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;

/**
 * Waits before a request by TCP is issued again, while the executor lives. Allocates nothing. Safe
 * for any thread.
 */
class RetryPause implements LongPredicate {
  private boolean over;

  /** Whether the executor stops. */
  final synchronized boolean isOver() {
    return over;
  }

  /**
   * Waits on the caller's thread.
   *
   * @return false when the executor stops: nothing is to be repeated
   */
  @Override
  public synchronized boolean test(long ms) {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    long leftNs = endNs - System.nanoTime();
    try {
      while (!over && leftNs > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, leftNs);
        leftNs = endNs - System.nanoTime();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    return !over;
  }

  /** Ends all waits, and later ones at once. */
  final synchronized void end() {
    over = true;
    notifyAll();
  }
}
