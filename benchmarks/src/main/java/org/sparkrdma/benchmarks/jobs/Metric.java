// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.jobs;

import com.fasterxml.jackson.annotation.JsonValue;

/** A measured quantity of a run; less is better. */
public enum Metric {
  WALL("wall", "s"),
  FETCH_WAIT("fetch wait", "s"),
  CPU("executor CPU", "s"),
  GC("GC", "s"),
  PEAK_MEMORY("peak memory", "MiB");

  private static final double BYTES_PER_MIB = 1 << 20;

  private final String label;
  private final String unit;

  Metric(String label, String unit) {
    this.label = label;
    this.unit = unit;
  }

  /** The metric's value of one run. */
  double of(RunResult result) {
    return switch (this) {
      case WALL -> result.seconds();
      case FETCH_WAIT -> result.fetchWaitSeconds();
      case CPU -> result.executorCpuSeconds();
      case GC -> result.gcSeconds();
      case PEAK_MEMORY -> result.peakMemoryBytes() / BYTES_PER_MIB;
    };
  }

  /** Number of decimals to print. */
  int decimals() {
    return this == PEAK_MEMORY ? 0 : 2;
  }

  /** Name and unit, for the heading of a column. */
  String heading() {
    return label + " " + unit;
  }

  /** The name in tables and reports. */
  @JsonValue
  @Override
  public String toString() {
    return label;
  }
}
