// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.faults;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures for how long this process does not run, by a thread that wants to run every 5 ms, and
 * for how long its threads wait for a processor. Safe for any thread.
 */
public final class PauseMeter {
  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(5);

  /** A longer time between two runs of the thread is a pause. */
  private static final long PAUSE_NS = 2 * STEP_NS;

  private final ProcessorWaits waitsBefore = ProcessorWaits.now();
  private volatile boolean stopped;
  private volatile long longestNs;
  private volatile long totalNs;

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
    long pausesNs = 0;
    while (!stopped) {
      LockSupport.parkNanos(STEP_NS);
      long nowNs = System.nanoTime();
      longestNs = Math.max(longestNs, nowNs - lastNs);
      pausesNs += nowNs - lastNs > PAUSE_NS ? nowNs - lastNs : 0;
      totalNs = pausesNs;
      lastNs = nowNs;
    }
  }

  /** Ends the measurement. */
  public void stop() {
    stopped = true;
  }

  /**
   * All pauses until now together, and all waits of threads for a processor: many short ones delay
   * a test as much as a long one.
   */
  public long totalMs() {
    return TimeUnit.NANOSECONDS.toMillis(totalNs) + ProcessorWaits.now().msSince(waitsBefore);
  }

  /** The longest time between two runs of the thread. */
  public long longestMs() {
    return TimeUnit.NANOSECONDS.toMillis(longestNs);
  }
}
