// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.TestInfo;
import org.sparkrdma.faults.Comparison;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.faults.FaultRow;
import org.sparkrdma.faults.FaultRows;
import org.sparkrdma.faults.PauseMeter;
import org.sparkrdma.shuffle.metrics.Counter;

/**
 * Rows of {@code fault-table.json} for faults of a peer, one for each test. Nothing is written on
 * engines other than the plain loopback engine, because they run the same faults.
 */
final class HostilityRows {
  private final FaultRows rows;
  private PauseMeter pauses;

  /**
   * @param file name of the file, which no other test class writes
   */
  HostilityRows(String file) {
    this.rows = new FaultRows("server", "soft", file);
  }

  /** The time of a fault begins, in place of an earlier one of the same test. */
  void begin() {
    end();
    pauses = PauseMeter.start();
  }

  /** The test has ended. */
  void end() {
    if (pauses != null) {
      pauses.stop();
    }
  }

  /**
   * Adds the row of a test.
   *
   * @param boundSeconds asserted on the plain loopback engine where nothing pauses this process
   * @param hits how often the fault happened
   * @param during comparison of the blocks that were read under the fault
   * @param afterwards comparison of those that were read after it
   * @param reasons number of blocks by TCP for each fallback reason
   * @param counters of the executor that recovers
   */
  void add(
      TestInfo test,
      int boundSeconds,
      long hits,
      Comparison during,
      Comparison afterwards,
      double seconds,
      Map<String, Long> reasons,
      Map<String, Long> counters) {
    assertThat(hits).as("the fault happened").isPositive();
    assertThat(during.hasNoneWrong()).as("%s", during).isTrue();
    assertThat(afterwards.hasNoneWrong()).as("afterwards: %s", afterwards).isTrue();
    long pausesMs = pauses.totalMs();
    int bound = FaultBound.seconds(boundSeconds, pausesMs);
    if (isPlainEngine()) {
      assertThat(seconds).isLessThan(bound);
    }
    String method = test.getTestMethod().orElseThrow().getName();
    rows.add(
        new FaultRow(
            FaultRow.words(method).replaceFirst("^should ", ""),
            recovery(during.compared(), reasons, counters),
            hits,
            during,
            afterwards,
            seconds,
            bound,
            pausesMs,
            reasons));
  }

  /** The counters as text. */
  private static String recovery(
      long blocksRead, Map<String, Long> reasons, Map<String, Long> counters) {
    List<String> parts = new ArrayList<>();
    addCount(parts, counters, Counter.PROTOCOL_ERRORS, "protocol errors");
    addCount(parts, counters, Counter.CONNECTIONS_REFUSED, "connection requests refused");
    addCount(parts, counters, Counter.CONNECTIONS_CLOSED, "connections ended");
    addCount(parts, counters, Counter.PEERS_QUARANTINED, "peers quarantined");
    addCount(parts, counters, Counter.PEERS_LIMITED, "requests answered busy");
    addCount(parts, counters, Counter.LEASES_EXPIRED, "leases expired");
    if (blocksRead > 0) {
      parts.add("blocks by READ: " + blocksRead);
    }
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
