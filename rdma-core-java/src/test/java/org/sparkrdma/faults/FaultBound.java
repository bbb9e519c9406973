// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

/** Bounds of the times of faults; docs/faults.md has the rule. */
public final class FaultBound {
  /** Seconds of a fault that takes less than a second. */
  public static final int BRIEF = 3;

  /** Seconds of a fault that takes longer, such as one that ends with a time-out. */
  public static final int OF_A_TIMEOUT = 10;

  /** The least bound when the process did not run for a while. */
  private static final int OF_A_PAUSE = 10;

  /** A busy machine pauses processes for longer than that. */
  public static final long PAUSE_MS = 200;

  private FaultBound() {}

  /**
   * The bound to assert.
   *
   * @param usual bound where nothing pauses the process
   * @param pauseMs longest time for which it did not run
   */
  public static int seconds(int usual, long pauseMs) {
    return pauseMs < PAUSE_MS ? usual : Math.max(usual, OF_A_PAUSE);
  }
}
