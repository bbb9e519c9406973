// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.benchmarks.transfer.Spread;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cases as a table of plain text, and the goal. */
final class LatencyTable {
  /** Largest ratio of the median times, the plug-in to Spark's own client. */
  private static final double GOAL = 1 / 3.0;

  private static final int GOAL_BYTES = 4096;

  private LatencyTable() {}

  static String of(List<LatencyCase> cases) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "block",
            "batch",
            "requests",
            "p50 ratio",
            "p99 ratio",
            "RDMA p50 us",
            "RDMA p99 us",
            "netty p50 us",
            "netty p99 us"));
    for (LatencyCase one : cases) {
      rows.add(
          List.of(
              new DataSize(one.blockBytes()).toString(),
              Integer.toString(one.batch()),
              Integer.toString(one.requests()),
              one.p50Ratio().format(2),
              one.p99Ratio().format(2),
              us(one.rdmaP50Us()),
              us(one.rdmaP99Us()),
              us(one.nettyP50Us()),
              us(one.nettyP99Us())));
    }
    return "time of one request at a time, RDMA / netty: median (min..max) of the rounds\n"
        + TextTable.of(rows, column -> false)
        + goal(cases);
  }

  private static String us(Spread spread) {
    return spread.format(0);
  }

  private static String goal(List<LatencyCase> cases) {
    StringBuilder lines = new StringBuilder();
    for (LatencyCase one : cases) {
      if (one.blockBytes() == GOAL_BYTES && one.batch() == 1) {
        lines.append(
            "goal: p50 ratio of one block of 4k at most %.2f: %s%n"
                .formatted(GOAL, one.p50Ratio().median() <= GOAL ? "reached" : "not reached"));
      }
    }
    return lines.toString();
  }
}
