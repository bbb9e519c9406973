// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Prints progress: a line every few seconds.
 *
 * <p>Safe for any thread: tasks are reported from the thread that reads the driver's output.
 */
public final class ProgressLog {
  private static final long MIN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  private final PrintStream out;
  private final LongSupplier nowNs;
  private final long startNs;
  private String job = "";
  private long lastLineNs;

  /**
   * @param nowNs a clock such as {@link System#nanoTime}
   */
  public ProgressLog(PrintStream out, LongSupplier nowNs) {
    this.out = out;
    this.nowNs = nowNs;
    startNs = nowNs.getAsLong();
  }

  /** Prints an event, with the time since the start. */
  public synchronized void log(String sentence) {
    double seconds = (nowNs.getAsLong() - startNs) / 1e9;
    out.println(String.format(Locale.ROOT, "[%6.1f s] ", seconds) + sentence);
    out.flush();
  }

  /** Prints the progress of an application; may be called for every task. */
  public synchronized void step(String application, ProgressLine line) {
    String now = application + ": " + line.phase();
    boolean newJob = !now.equals(job);
    boolean done = line.done() == line.total();
    job = now;
    if (newJob || done || nowNs.getAsLong() - lastLineNs >= MIN_INTERVAL_NS) {
      log("%s, %d of %d %s".formatted(now, line.done(), line.total(), line.unit()));
      lastLineNs = nowNs.getAsLong();
    }
  }
}
