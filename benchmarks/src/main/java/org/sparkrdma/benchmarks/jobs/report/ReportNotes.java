// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.benchmarks.jobs.plan.BenchmarkPlan;

/** Explanations of the values of a report. Stateless. */
final class ReportNotes {
  /** Number of runs after which the JVM compiles little. */
  private static final int ENOUGH_WARM_UPS = 4;

  private ReportNotes() {}

  /** Sentences; empty if the values need no explanation. */
  static List<String> of(BenchmarkPlan plan) {
    List<String> notes = new ArrayList<>();
    if (plan.rounds() > 1) {
      notes.add(
          "Bytes are medians (least..most) of the rounds, blocks medians; blocks copied to the"
              + " heap, waits for memory and fallbacks are sums over the rounds.");
    }
    if (plan.warmUps() < ENOUGH_WARM_UPS) {
      notes.add(
          ("With --warm-ups %d each run is one of the first of its executors, in which the JVM still"
                  + " compiles and the plug-in starts. For applications of more than a minute add"
                  + " --warm-ups 5.")
              .formatted(plan.warmUps()));
    }
    return notes;
  }
}
