// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.time.Duration;
import java.util.List;

/**
 * The sizes and times of {@code perf client}.
 *
 * @param sizesBytes lengths of transfers, from 1 to {@link #MAX_BYTES}
 * @param duration time for the speed of one size in one way
 * @param atOnce number of transfers in flight, 1 to {@link #MAX_AT_ONCE}
 */
public record PerfPlan(List<Integer> sizesBytes, Duration duration, int atOnce) {
  /** Maximum length of a transfer: a peer shares no more memory. */
  public static final int MAX_BYTES = SharedRegion.BYTES;

  /** Maximum number of transfers in flight. */
  public static final int MAX_AT_ONCE = Meter.MAX_AT_ONCE;

  public PerfPlan {
    sizesBytes = List.copyOf(sizesBytes);
  }
}
