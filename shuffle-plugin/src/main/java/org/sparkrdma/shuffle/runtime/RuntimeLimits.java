// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import org.sparkrdma.shuffle.settings.ShuffleSettings;

/**
 * Waits of an {@link RdmaRuntime} and their limits.
 *
 * @param firstStart maximum wait of a request for the first start
 * @param close maximum wait of a close for the transport; the rest is left to the system
 * @param firstRestart wait before the first start after the loss of the device
 */
record RuntimeLimits(Duration firstStart, Duration close, Duration firstRestart) {
  private static final Duration CLOSE = Duration.ofSeconds(15);
  private static final Duration FIRST_RESTART = Duration.ofSeconds(1);

  /** The limits of an executor. */
  static RuntimeLimits of(ShuffleSettings settings) {
    return new RuntimeLimits(settings.lookupTimeout(), CLOSE, FIRST_RESTART);
  }
}
