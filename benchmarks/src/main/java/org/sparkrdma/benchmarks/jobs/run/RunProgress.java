// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.run;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.sparkrdma.launch.ProgressLine;

/** Reports the current run of a benchmark and estimates the remaining time. */
public final class RunProgress {
  private static final long SECONDS_PER_MINUTE = 60;

  private final Consumer<ProgressLine> lines;
  private final LongSupplier nowNs;
  private final int runs;
  private final long startNs;
  private int runsDone;

  /**
   * @param lines is given each line
   * @param nowNs a clock such as {@link System#nanoTime}
   */
  public RunProgress(int runs, Consumer<ProgressLine> lines, LongSupplier nowNs) {
    this.lines = lines;
    this.nowNs = nowNs;
    this.runs = runs;
    startNs = nowNs.getAsLong();
  }

  /** Receives the progress of single tasks. */
  Consumer<ProgressLine> lines() {
    return lines;
  }

  /** Reports a step that is no run, such as the start of an application. */
  void report(String step) {
    lines.accept(new ProgressLine(step + remaining(), runsDone, runs, "runs"));
  }

  /** Description of the next run, for the progress of its tasks. */
  String describe(String run) {
    return "run %d of %d, %s%s".formatted(runsDone + 1, runs, run, remaining());
  }

  void onRunDone() {
    runsDone++;
  }

  /** Empty before the first run is done. */
  private String remaining() {
    if (runsDone == 0) {
      return "";
    }
    long elapsedNs = nowNs.getAsLong() - startNs;
    long seconds = TimeUnit.NANOSECONDS.toSeconds(elapsedNs / runsDone * (runs - runsDone));
    return seconds < 2 * SECONDS_PER_MINUTE
        ? ", about %d s left".formatted(seconds)
        : ", about %d min left".formatted(seconds / SECONDS_PER_MINUTE);
  }
}
