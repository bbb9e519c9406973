// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** What is watched of an executor's process, and how much more of it at the end is still flat. */
enum Measure {
  /** Resident memory without the heap, in MiB: the heap is resident from the start to the end. */
  NATIVE_MIB(24),
  /** Open file descriptors. */
  DESCRIPTORS(12),
  /** Threads without those of {@link #STORAGE_THREADS}. */
  THREADS(6),
  /**
   * Threads of Spark's storage endpoint, told but not judged: one more for each deletion, a hundred
   * at most, each gone after a minute without work. Their number says how many deletions came
   * lately, and nothing of what leaks.
   */
  STORAGE_THREADS,
  /** Entries of the process's memory map: regions, mapped files, stacks, arenas. */
  MAPPINGS(60);

  /** The part of the first median by which the last may be larger. */
  static final double ALLOWED_PART = 0.1;

  private final boolean judged;
  private final int allowedUnits;

  Measure() {
    judged = false;
    allowedUnits = 0;
  }

  Measure(int allowedUnits) {
    judged = true;
    this.allowedUnits = allowedUnits;
  }

  /** Whether a soak fails when it grows. */
  boolean isJudged() {
    return judged;
  }

  /** A growth up to so much is flat, whatever it grew from. */
  int allowedUnits() {
    return allowedUnits;
  }

  /** As it stands in table and report. */
  @JsonValue
  @Override
  public String toString() {
    return this == STORAGE_THREADS
        ? "Spark's storage threads"
        : name().toLowerCase(Locale.ROOT).replace('_', ' ').replace("mib", "MiB");
  }
}
