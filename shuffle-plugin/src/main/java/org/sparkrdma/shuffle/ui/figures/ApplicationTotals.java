// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Sums over the executors of an application, for Spark's metrics system and the summary at the end.
 *
 * @param withRdma running executors whose RDMA is up
 * @param withoutRdma running executors that have reported another state
 * @param pinnedFull running executors that have pinned at least 95 % of what they may
 * @param present figures of the running executors whose RDMA is up: sums of {@link #SUMMED}, the
 *     maximum of {@link #HIGHEST}
 * @param sums of all executors, also of those that have ended
 */
public record ApplicationTotals(
    long withRdma,
    long withoutRdma,
    long pinnedFull,
    Map<Figure, Long> present,
    ExecutorSums sums) {
  static final List<Figure> SUMMED =
      List.of(Figure.PINNED, Figure.PINNED_LIMIT, Figure.CONNECTIONS);
  static final List<Figure> HIGHEST = List.of(Figure.LATENCY_P50_US, Figure.LATENCY_P99_US);

  /** Figure of the running executors whose RDMA is up; 0 without any. */
  public long present(Figure figure) {
    return present.getOrDefault(figure, 0L);
  }

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
