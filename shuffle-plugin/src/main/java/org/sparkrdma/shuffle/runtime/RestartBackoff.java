// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The waits between attempts to start RDMA again: each twice as long as the one before, up to a
 * minute. One thread waits; any thread ends the waits.
 */
final class RestartBackoff {
  private static final long LAST_MS = 60_000;

  private final long firstMs;
  private final CountDownLatch ended = new CountDownLatch(1);

  RestartBackoff(Duration first) {
    firstMs = first.toMillis();
  }

  /** The wait before an attempt; 0 is the first. */
  long delayMs(int attempt) {
    return Math.max(firstMs, Math.min(LAST_MS, firstMs << Math.min(attempt, 16)));
  }

  /** Waits before an attempt; false when there shall be none. */
  boolean await(int attempt) {
    try {
      return !ended.await(delayMs(attempt), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Ends the present wait and all later ones. */
  void end() {
    ended.countDown();
  }
}
