// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The waits between attempts to start RDMA again: each twice as long as the one before, up to a
 * minute. They grow also when each start succeeds and RDMA is lost soon after it, and begin anew
 * after RDMA was up for {@link #STABLE}. Confined to the thread that waits, but for {@link #end}.
 */
final class RestartBackoff {
  /** Time after which RDMA counts as stable. */
  static final Duration STABLE = Duration.ofMinutes(1);

  private static final long LAST_MS = 60_000;

  private final long firstMs;
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Attempts since RDMA was last stable. */
  private int attempts;

  private long upSinceNs;

  /**
   * @param first wait after the loss of RDMA that was stable
   */
  RestartBackoff(Duration first) {
    firstMs = first.toMillis();
  }

  /** RDMA is up from now on. */
  void onUp(long nowNs) {
    upSinceNs = nowNs;
  }

  /** RDMA, which was up, is lost now. */
  void onLoss(long nowNs) {
    if (nowNs - upSinceNs > STABLE.toNanos()) {
      attempts = 0;
    }
  }

  /** The wait before the next attempt. */
  long delayMs() {
    return Math.max(firstMs, Math.min(LAST_MS, firstMs << Math.min(attempts, 16)));
  }

  /**
   * Waits before the next attempt, which this counts; false when there shall be none.
   *
   * @param check called after each interval of the wait
   */
  boolean await(Duration interval, Runnable check) {
    long leftMs = delayMs();
    attempts++;
    boolean goesOn = true;
    while (goesOn && leftMs > 0) {
      long partMs = Math.min(leftMs, interval.toMillis());
      goesOn = pause(partMs);
      leftMs -= partMs;
      if (goesOn) {
        check.run();
      }
    }
    return goesOn;
  }

  /** Waits, and counts no attempt; false when the waits have ended. */
  boolean pause(Duration time) {
    return pause(time.toMillis());
  }

  private boolean pause(long milliseconds) {
    try {
      return !ended.await(milliseconds, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Ends the present wait and all later ones. Any thread. */
  void end() {
    ended.countDown();
  }
}
