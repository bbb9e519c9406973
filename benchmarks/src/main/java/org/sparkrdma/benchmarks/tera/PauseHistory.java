// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.io.Serializable;
import java.util.Arrays;

/** Pauses of a JVM for garbage collections since {@link PauseRecorder} watches it. Immutable. */
public final class PauseHistory implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The history of a JVM that nothing watches yet. */
  public static final PauseHistory EMPTY = new PauseHistory(0, new int[0]);

  private final long count;
  private final int[] lastMs;

  /**
   * @param count of all pauses
   * @param lastMs lengths of the last of them, the newest last
   */
  PauseHistory(long count, int[] lastMs) {
    this.count = count;
    this.lastMs = lastMs.clone();
  }

  /** Number of pauses since an earlier history of the same JVM. */
  public long countSince(PauseHistory earlier) {
    return count - earlier.count;
  }

  /** The longest of these pauses in milliseconds, 0 without any; older ones may be forgotten. */
  public int longestMsSince(PauseHistory earlier) {
    int known = (int) Math.min(countSince(earlier), lastMs.length);
    return Arrays.stream(lastMs, lastMs.length - known, lastMs.length).max().orElse(0);
  }
}
