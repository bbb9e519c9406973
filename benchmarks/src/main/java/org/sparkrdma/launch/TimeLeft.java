// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Estimate of the remaining time of steps that take about equally long. Confined to one thread. */
public final class TimeLeft {
  private static final long SECONDS_PER_MINUTE = 60;

  private final LongSupplier nowNs;
  private final int steps;
  private final long startNs;
  private int done;

  /**
   * @param nowNs a clock such as {@link System#nanoTime}
   */
  public TimeLeft(int steps, LongSupplier nowNs) {
    this.nowNs = nowNs;
    this.steps = steps;
    startNs = nowNs.getAsLong();
  }

  /** A step has ended. */
  public void onStepDone() {
    done++;
  }

  /** Number of steps that have ended. */
  public int done() {
    return done;
  }

  /** To append to a description; empty before the first step has ended, and after the last one. */
  public String estimate() {
    if (done == 0 || done == steps) {
      return "";
    }
    long elapsedNs = nowNs.getAsLong() - startNs;
    long seconds = TimeUnit.NANOSECONDS.toSeconds(elapsedNs / done * (steps - done));
    return seconds < 2 * SECONDS_PER_MINUTE
        ? ", about %d s left".formatted(seconds)
        : ", about %d min left".formatted(seconds / SECONDS_PER_MINUTE);
  }
}
