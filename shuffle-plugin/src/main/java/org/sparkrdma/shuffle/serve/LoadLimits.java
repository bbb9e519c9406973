// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;

/**
 * Longest times that requests may wait in the server.
 *
 * @param maxWaitNs of a request that waits for a thread: beyond it the blocks are fetched by TCP
 * @param maxAgeNs of a request since its arrival: beyond it no further block is located
 */
record LoadLimits(long maxWaitNs, long maxAgeNs) {
  private static final int WAIT_PART = 16;

  /** A pause of the JVM or of a disk is no overload, however short the time-out is. */
  private static final long MIN_WAIT_NS = 1_000_000_000;

  /** Limits for readers that wait this long for an answer. */
  static LoadLimits of(Duration requestTimeout) {
    long timeoutNs = requestTimeout.toNanos();
    long maxWaitNs = Math.max(timeoutNs / WAIT_PART, Math.min(timeoutNs / 2, MIN_WAIT_NS));
    return new LoadLimits(maxWaitNs, timeoutNs / 2);
  }
}
