// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** A measured quantity of an executor's process, with the growth that counts as flat. */
enum Measure {
  /** Resident memory without the heap, in MiB: the heap is resident from the start to the end. */
  NATIVE_MIB(24),
  /** Open file descriptors. */
  DESCRIPTORS(12),
  /** Threads without those of {@link #STORAGE_THREADS}. */
  THREADS(6),
  /**
   * Threads of Spark's storage endpoint, printed but not judged. Spark starts one for each
   * deletion, at most a hundred, and each ends after a minute without work. Their number depends on
   * recent deletions only.
   */
  STORAGE_THREADS,
  /** Entries of the process's memory map: regions, mapped files, stacks, arenas. */
  MAPPINGS(60);

  /** Allowed growth, as a fraction of the first median. */
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

  /** Whether a soak fails when this measure grows. */
  boolean isJudged() {
    return judged;
  }

  /** Allowed growth in units of the measure; larger than the fraction for small values. */
  int allowedUnits() {
    return allowedUnits;
  }

  /** The name in table and report. */
  @JsonValue
  @Override
  public String toString() {
    return this == STORAGE_THREADS
        ? "Spark's storage threads"
        : name().toLowerCase(Locale.ROOT).replace('_', ' ').replace("mib", "MiB");
  }
}
