// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs.report;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.List;

/** A measured quantity of a run; less is better. */
public enum Metric {
  WALL("wall", "s"),
  FETCH_WAIT("fetch wait", "s"),
  CPU("executor CPU", "s"),
  GC("GC", "s"),
  LONGEST_PAUSE("longest GC pause", "ms"),
  PAUSES("GC pauses", ""),
  PEAK_MEMORY("peak memory", "MiB");

  private static final double BYTES_PER_MIB = 1 << 20;

  private final String label;
  private final String unit;

  Metric(String label, String unit) {
    this.label = label;
    this.unit = unit;
  }

  String unit() {
    return unit;
  }

  /**
   * The metric's value of one run; NaN if a report of an older version lacks it. Pauses are those
   * of all executors.
   */
  double of(RunResult result) {
    return switch (this) {
      case WALL -> result.seconds();
      case FETCH_WAIT -> result.fetchWaitSeconds();
      case CPU -> result.executorCpuSeconds();
      case GC -> result.gcSeconds();
      case LONGEST_PAUSE ->
          result.gcPauses().values().stream()
              .mapToDouble(RunResult.GcPauses::longestMs)
              .max()
              .orElse(Double.NaN);
      case PAUSES ->
          result.gcPauses().isEmpty()
              ? Double.NaN
              : result.gcPauses().values().stream().mapToLong(RunResult.GcPauses::count).sum();
      case PEAK_MEMORY -> result.peakMemoryBytes() / BYTES_PER_MIB;
    };
  }

  /**
   * Whether two shuffles are compared by it. A pause is a single event, so that its ratio differs
   * from round to round by itself.
   */
  boolean hasRatio() {
    return this != LONGEST_PAUSE && this != PAUSES;
  }

  /** Metrics that have a ratio, in their order. */
  static List<Metric> withRatio() {
    return Arrays.stream(values()).filter(Metric::hasRatio).toList();
  }

  /** Number of decimals to print. */
  int decimals() {
    return switch (this) {
      case LONGEST_PAUSE, PAUSES, PEAK_MEMORY -> 0;
      default -> 2;
    };
  }

  /** Name and unit, for the heading of a column. */
  String heading() {
    return unit.isEmpty() ? label : label + " " + unit;
  }

  /** The name in tables and reports. */
  @JsonValue
  @Override
  public String toString() {
    return label;
  }
}
