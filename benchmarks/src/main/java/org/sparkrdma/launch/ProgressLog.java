// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Prints progress: on a terminal one line that is redrawn, elsewhere a line every few seconds.
 *
 * <p>Safe for any thread: tasks are reported from the thread that reads the driver's output.
 */
public final class ProgressLog {
  private static final long MIN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);
  private static final String REDRAW = "\r\u001b[K";

  private final PrintStream out;
  private final boolean terminal;
  private final LongSupplier nowNs;
  private final long startNs;
  private String job = "";
  private long lastLineNs;
  private boolean lineOpen;

  /**
   * @param nowNs a clock such as {@link System#nanoTime}
   */
  public ProgressLog(PrintStream out, boolean terminal, LongSupplier nowNs) {
    this.out = out;
    this.terminal = terminal;
    this.nowNs = nowNs;
    startNs = nowNs.getAsLong();
  }

  /** Prints an event, with the time since the start. */
  public synchronized void log(String sentence) {
    endLine();
    out.println(stamp() + sentence);
    out.flush();
  }

  /** Prints the progress of an application; may be called for every task. */
  public synchronized void step(String application, ProgressLine line) {
    String now = application + ": " + line.phase();
    boolean newJob = !now.equals(job);
    boolean done = line.done() == line.total();
    job = now;
    String text =
        "%s%s, %d of %d %s".formatted(stamp(), now, line.done(), line.total(), line.unit());
    if (terminal) {
      if (newJob) {
        endLine();
      }
      out.print(REDRAW + text);
      lineOpen = true;
    } else if (newJob || done || nowNs.getAsLong() - lastLineNs >= MIN_INTERVAL_NS) {
      out.println(text);
      lastLineNs = nowNs.getAsLong();
    }
    out.flush();
  }

  private void endLine() {
    if (lineOpen) {
      out.println();
      lineOpen = false;
    }
  }

  private String stamp() {
    double seconds = (nowNs.getAsLong() - startNs) / 1e9;
    return String.format(Locale.ROOT, "[%6.1f s] ", seconds);
  }
}
