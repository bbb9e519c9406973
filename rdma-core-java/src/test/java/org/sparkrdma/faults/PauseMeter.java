// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures for how long this process does not run, by a thread that wants to run every 5 ms. Safe
 * for any thread.
 */
public final class PauseMeter {
  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private volatile boolean stopped;
  private volatile long longestNs;

  /** Starts the measurement, which ends with {@link #stop}. */
  public static PauseMeter start() {
    PauseMeter meter = new PauseMeter();
    Thread thread = new Thread(meter::measure, "fault-pauses");
    thread.setDaemon(true);
    thread.start();
    return meter;
  }

  private void measure() {
    long lastNs = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(STEP_NS);
      long nowNs = System.nanoTime();
      longestNs = Math.max(longestNs, nowNs - lastNs);
      lastNs = nowNs;
    }
  }

  /** Ends the measurement. */
  public void stop() {
    stopped = true;
  }

  /** The longest time between two runs of the thread. */
  public long longestMs() {
    return TimeUnit.NANOSECONDS.toMillis(longestNs);
  }
}
