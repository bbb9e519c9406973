// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.util.concurrent.TimeUnit;

/** Bounds of the times of faults. */
public final class FaultBound {
  /** Seconds of a fault that waits for nothing. */
  public static final int BRIEF = 1;

  /** Seconds of a fault that waits for a call or a limit: it takes 0.3 s at least. */
  public static final int OF_A_WAIT = 3;

  /** Seconds of a fault during which processes or kernels start, or tasks are repeated. */
  public static final int OF_A_START = 30;

  /** The least bound when the process did not run for a while; that time is added. */
  private static final int OF_A_PAUSE = 10;

  /** A busy machine pauses processes for longer than that. */
  public static final long PAUSE_MS = 200;

  private FaultBound() {}

  /**
   * The bound to assert.
   *
   * @param usual bound where nothing pauses the process
   * @param pauseMs time for which it did not run, the longest or all together
   */
  public static int seconds(int usual, long pauseMs) {
    if (pauseMs < PAUSE_MS) {
      return usual;
    }
    long withPause = OF_A_PAUSE + TimeUnit.MILLISECONDS.toSeconds(pauseMs);
    return Math.toIntExact(Math.max(usual, Math.min(OF_A_START, withPause)));
  }
}
