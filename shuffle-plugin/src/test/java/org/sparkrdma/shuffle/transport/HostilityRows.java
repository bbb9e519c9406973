// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.TestInfo;
import org.sparkrdma.faults.FaultRow;
import org.sparkrdma.faults.FaultRows;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * Rows of {@code fault-table.json} for faults of a peer, one for each test. Nothing is written on
 * engines other than the plain loopback engine, because they run the same faults.
 */
final class HostilityRows {
  /** Asserted on the plain loopback engine; docs/faults.md has the rule for bounds. */
  private static final int BOUND_SECONDS = 10;

  private final FaultRows rows;

  /**
   * @param file name of the file, which no other test class writes
   */
  HostilityRows(String file) {
    this.rows = new FaultRows("server", "soft", file);
  }

  /**
   * Adds the row of a test.
   *
   * @param hits how often the fault happened
   * @param right whether all blocks that were read have the expected bytes, by comparison
   * @param reasons number of blocks by TCP for each fallback reason
   * @param counters of the executor that recovers
   */
  void add(
      TestInfo test,
      long hits,
      boolean right,
      double seconds,
      Map<String, Long> reasons,
      Map<String, Long> counters) {
    if (isPlainEngine()) {
      assertThat(seconds).isLessThan(BOUND_SECONDS);
    }
    String method = test.getTestMethod().orElseThrow().getName();
    rows.add(
        new FaultRow(
            FaultRow.words(method).replaceFirst("^should ", ""),
            recovery(reasons, counters),
            hits,
            right,
            seconds,
            BOUND_SECONDS,
            counters.getOrDefault(Counter.RDMA_BLOCKS_READ.label(), 0L),
            reasons));
  }

  /** The counters as text. */
  private static String recovery(Map<String, Long> reasons, Map<String, Long> counters) {
    List<String> parts = new ArrayList<>();
    addCount(parts, counters, Counter.PROTOCOL_ERRORS, "protocol errors");
    addCount(parts, counters, Counter.CONNECTIONS_REFUSED, "connection requests refused");
    addCount(parts, counters, Counter.CONNECTIONS_CLOSED, "connections ended");
    addCount(parts, counters, Counter.PEERS_QUARANTINED, "peers quarantined");
    addCount(parts, counters, Counter.PEERS_LIMITED, "requests answered busy");
    addCount(parts, counters, Counter.LEASES_EXPIRED, "leases expired");
    addCount(parts, counters, Counter.RDMA_BLOCKS_READ, "blocks by READ");
    addCount(parts, counters, Counter.LOCATES_SERVED, "LOCATEs answered");
    new TreeMap<>(reasons)
        .forEach((reason, count) -> parts.add("blocks by TCP (" + reason + "): " + count));
    return parts.isEmpty() ? "nothing changes" : String.join("; ", parts);
  }

  private static void addCount(
      List<String> parts, Map<String, Long> counters, Counter counter, String text) {
    long count = counters.getOrDefault(counter.label(), 0L);
    if (count > 0) {
      parts.add(text + ": " + count);
    }
  }

  /** Writes the rows of all tests. */
  void write() throws IOException {
    if (isPlainEngine()) {
      rows.write();
    }
  }

  private static boolean isPlainEngine() {
    return TestEngine.isSoft() && !TestEngine.isHelloBySend();
  }
}
