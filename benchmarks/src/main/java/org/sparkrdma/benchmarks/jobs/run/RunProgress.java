// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.run;

import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.sparkrdma.launch.ProgressLine;
import org.sparkrdma.launch.TimeLeft;

/** Reports the current run of a benchmark and estimates the remaining time. */
public final class RunProgress {
  private final Consumer<ProgressLine> lines;
  private final int runs;
  private final TimeLeft time;

  /**
   * @param lines is given each line
   * @param nowNs a clock such as {@link System#nanoTime}
   */
  public RunProgress(int runs, Consumer<ProgressLine> lines, LongSupplier nowNs) {
    this.lines = lines;
    this.runs = runs;
    time = new TimeLeft(runs, nowNs);
  }

  /** Receives the progress of single tasks. */
  Consumer<ProgressLine> lines() {
    return lines;
  }

  /** Reports a step that is no run, such as the start of an application. */
  void report(String step) {
    lines.accept(new ProgressLine(step + time.estimate(), time.done(), runs, "runs"));
  }

  /** Description of the next run, for the progress of its tasks. */
  String describe(String run) {
    return "run %d of %d, %s%s".formatted(time.done() + 1, runs, run, time.estimate());
  }

  void onRunDone() {
    time.onStepDone();
  }
}
