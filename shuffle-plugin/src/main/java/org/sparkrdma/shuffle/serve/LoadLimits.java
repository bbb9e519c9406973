// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;

/**
 * Longest times that requests may wait in the server.
 *
 * @param maxWaitNs of a request that waits for a thread: beyond it the blocks are fetched by TCP
 * @param maxAgeNs of a request since its arrival: beyond it no further block is located
 * @param maxHangNs of a request since its arrival: beyond it the blocks that a disk's thread still
 *     works on are fetched by TCP
 * @param maxHoldNs of located blocks that wait for other blocks of their request
 */
record LoadLimits(long maxWaitNs, long maxAgeNs, long maxHangNs, long maxHoldNs) {
  private static final int WAIT_PART = 16;

  /** A pause of the JVM or of a disk is no overload, however short the time-out is. */
  private static final long MIN_WAIT_NS = 1_000_000_000;

  private static final long MAX_HOLD_NS = 50_000_000;

  /** Limits for readers that wait this long for an answer. */
  static LoadLimits of(Duration requestTimeout) {
    long timeoutNs = requestTimeout.toNanos();
    long maxWaitNs = Math.max(timeoutNs / WAIT_PART, Math.min(timeoutNs / 2, MIN_WAIT_NS));
    long maxAgeNs = timeoutNs / 2;
    return new LoadLimits(
        maxWaitNs, maxAgeNs, maxAgeNs + maxWaitNs / 2, Math.min(MAX_HOLD_NS, maxWaitNs / 2));
  }
}
