// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.launch;

import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Prints progress on standard output: a line every few seconds.
 *
 * <p>Safe for any thread: tasks are reported from the thread that reads the driver's output.
 */
public final class ProgressLog {
  private static final long MIN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  private final long startNs = System.nanoTime();
  private String job = "";
  private long lastLineNs;

  /** Prints an event, with the time since the start. */
  public synchronized void log(String sentence) {
    double seconds = (System.nanoTime() - startNs) / 1e9;
    System.out.println(String.format(Locale.ROOT, "[%6.1f s] ", seconds) + sentence);
    System.out.flush();
  }

  /** Prints the progress of an application; may be called for every task. */
  public synchronized void step(String application, Line line) {
    String now = application + ": " + line.phase();
    boolean newJob = !now.equals(job);
    boolean done = line.done() == line.total();
    job = now;
    if (newJob || done || System.nanoTime() - lastLineNs >= MIN_INTERVAL_NS) {
      log("%s, %d of %d %s".formatted(now, line.done(), line.total(), line.unit()));
      lastLineNs = System.nanoTime();
    }
  }

  /**
   * Progress of a phase of an application: one line that the driver prints for its launcher.
   *
   * @param unit unit of the counts, one word
   */
  public record Line(String phase, int done, int total, String unit) {
    private static final String MARK = "@progress";
    private static final int FIELDS = 5;

    /** Parses a line; empty when it is not a line of progress. */
    public static Optional<Line> parse(String line) {
      String[] fields = line.split(" ", FIELDS);
      if (fields.length != FIELDS || !fields[0].equals(MARK)) {
        return Optional.empty();
      }
      return Optional.of(
          new Line(fields[4], Integer.parseInt(fields[1]), Integer.parseInt(fields[2]), fields[3]));
    }

    /** The line to print. */
    @Override
    public String toString() {
      return String.join(" ", MARK, Integer.toString(done), Integer.toString(total), unit, phase);
    }
  }
}
