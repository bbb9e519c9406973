// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * Waits of an {@link RdmaRuntime} and their limits.
 *
 * @param firstStart time after the beginning of the first start from which no request waits for it
 * @param close maximum wait of a close for the transport; the rest is left to the system
 * @param firstRestart wait before the first start after the loss of the device
 * @param exclusion time for which a task that needs RDMA repeats the request to exclude this
 *     executor while the driver does not answer
 */
record RuntimeLimits(
    Duration firstStart, Duration close, Duration firstRestart, Duration exclusion) {
  /** A start that takes shorter does not hang, however short the time-outs of blocks are. */
  private static final Duration MIN_FIRST_START = Duration.ofSeconds(5);

  private static final Duration CLOSE = Duration.ofSeconds(15);
  private static final Duration FIRST_RESTART = Duration.ofSeconds(1);
  private static final Duration EXCLUSION = Duration.ofSeconds(60);

  /** The limits of an executor. */
  static RuntimeLimits of(ShuffleSettings settings) {
    Duration timeout = settings.lookupTimeout();
    return new RuntimeLimits(
        timeout.compareTo(MIN_FIRST_START) > 0 ? timeout : MIN_FIRST_START,
        CLOSE,
        FIRST_RESTART,
        EXCLUSION);
  }
}
