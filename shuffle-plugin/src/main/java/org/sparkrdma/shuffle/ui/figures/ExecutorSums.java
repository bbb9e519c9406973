// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Figures of several executors together.
 *
 * @param bytes by path
 * @param fallbackBytes that TCP brought although reader and peer use RDMA
 * @param fallbacks blocks that used TCP although the plug-in is on, by the label of the reason
 * @param quarantines of peers
 * @param highestPinnedBytes the maximum over executors of the bytes that one has pinned at one time
 */
public record ExecutorSums(
    BytesByPath bytes,
    long fallbackBytes,
    SortedMap<String, Long> fallbacks,
    long quarantines,
    long highestPinnedBytes) {
  /** The sums of no executor. */
  static final ExecutorSums NONE =
      new ExecutorSums(BytesByPath.NONE, 0, Collections.emptySortedMap(), 0, 0);

  /** Those of one executor. */
  static ExecutorSums of(ExecutorFigures executor) {
    return new ExecutorSums(
        executor.bytes(),
        executor.number(Figure.TCP_FALLBACK),
        new TreeMap<>(executor.fallbacks()),
        executor.number(Figure.QUARANTINES),
        executor.number(Figure.PINNED_HIGHEST));
  }

  /** Those of both; an executor must not be in both. */
  ExecutorSums plus(ExecutorSums other) {
    SortedMap<String, Long> all = new TreeMap<>(fallbacks);
    for (Map.Entry<String, Long> one : other.fallbacks.entrySet()) {
      all.merge(one.getKey(), one.getValue(), Long::sum);
    }
    return new ExecutorSums(
        bytes.plus(other.bytes),
        fallbackBytes + other.fallbackBytes,
        all,
        quarantines + other.quarantines,
        Math.max(highestPinnedBytes, other.highestPinnedBytes));
  }

  /** Blocks that used TCP although the reading executor and its peer use RDMA. */
  public long fallbackBlocks() {
    return fallbacks.values().stream().mapToLong(Long::longValue).sum() - blocksWithoutRdma();
  }

  /** Blocks that used TCP because the reading executor or its peer has no RDMA. */
  public long blocksWithoutRdma() {
    return Stream.of(FallbackReason.values())
        .filter(FallbackReason::isWithoutRdma)
        .mapToLong(reason -> fallbacks.getOrDefault(reason.label(), 0L))
        .sum();
  }
}
