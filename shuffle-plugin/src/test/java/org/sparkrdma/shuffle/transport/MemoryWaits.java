// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Histogram of the waits of blocks for receive memory. For one thread. */
final class MemoryWaits {
  /** Upper bounds of the groups but the last. */
  private static final long[] BOUNDS_MS = {5, 20, 31, 100, 300, 1_001};

  private final long[] counts = new long[BOUNDS_MS.length + 1];
  private long longestNs;

  void add(long waitedNs) {
    int group = 0;
    while (group < BOUNDS_MS.length && waitedNs > TimeUnit.MILLISECONDS.toNanos(BOUNDS_MS[group])) {
      group++;
    }
    counts[group]++;
    longestNs = Math.max(longestNs, waitedNs);
  }

  double longestMs() {
    return longestNs / 1e6;
  }

  /** Number of waits in each group, by its name. */
  Map<String, Long> groups() {
    Map<String, Long> groups = new LinkedHashMap<>();
    for (int i = 0; i < BOUNDS_MS.length; i++) {
      groups.put("up to " + BOUNDS_MS[i] + " ms", counts[i]);
    }
    groups.put("longer", counts[BOUNDS_MS.length]);
    return groups;
  }
}
