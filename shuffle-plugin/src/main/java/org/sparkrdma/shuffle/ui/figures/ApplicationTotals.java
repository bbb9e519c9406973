// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.util.Locale;

/**
 * Sums over the executors of an application, for Spark's metrics system and the summary at the end.
 *
 * @param withRdma running executors whose RDMA is up
 * @param withoutRdma running executors that have reported another state
 * @param pinnedFull running executors that have pinned at least 95 % of what they may
 * @param sums of all executors, also of those that have ended
 */
public record ApplicationTotals(
    long withRdma, long withoutRdma, long pinnedFull, ExecutorSums sums) {
  /** The line that the driver logs at the end of the application. */
  public String summary() {
    BytesByPath bytes = sums.bytes();
    return String.format(
        Locale.ROOT,
        ("readBytes=%d copiedBytes=%d tcpBytes=%d localBytes=%d fallbackBlocks=%d quarantines=%d"
            + " fallbacks=%s highestPinnedBytes=%d"),
        bytes.read(),
        bytes.copied(),
        bytes.tcp(),
        bytes.local(),
        sums.fallbackBlocks(),
        sums.quarantines(),
        sums.fallbacks(),
        sums.highestPinnedBytes());
  }
}
