// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** The line that an executor logs at its end. Stateless. */
final class RuntimeSummary {
  private RuntimeSummary() {}

  /**
   * Bytes and blocks by path, fallbacks by reason, and the maximum of pinned memory. The copied
   * bytes are those that peers were given from this executor's copy pool.
   *
   * @param pinned of this executor; empty without RDMA
   */
  static String of(ShuffleCounters counters, Optional<PinnedBudget> pinned) {
    Map<String, Long> fallbacks = new TreeMap<>();
    for (FallbackReason reason : FallbackReason.values()) {
      if (counters.value(reason) > 0) {
        fallbacks.put(reason.label(), counters.value(reason));
      }
    }
    return String.format(
        Locale.ROOT,
        ("readBytes=%d readBlocks=%d copiedBytes=%d tcpBytes=%d tcpBlocks=%d fallbacks=%s"
            + " highestPinnedBytes=%d of %d"),
        counters.value(Counter.RDMA_BYTES_READ),
        counters.value(Counter.RDMA_BLOCKS_READ),
        counters.value(Counter.BYTES_FROM_SLOTS),
        counters.value(Counter.TCP_BYTES_READ),
        counters.value(Counter.TCP_BLOCKS_READ),
        fallbacks,
        pinned.map(PinnedBudget::highestBytes).orElse(0L),
        pinned.map(PinnedBudget::limitBytes).orElse(0L));
  }
}
