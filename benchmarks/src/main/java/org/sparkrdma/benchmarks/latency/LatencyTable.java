// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.sparkrdma.benchmarks.transfer.Spread;
import org.sparkrdma.launch.DataSize;
import org.sparkrdma.launch.TextTable;

/** The cases as a table of plain text, and the goals. */
final class LatencyTable {
  /** Largest ratio of times, the plug-in to Spark's own client. */
  private static final double MAX_RATIO = 1 / 3.0;

  /** Most bytes allocated for each block. */
  private static final double MAX_BYTES = 200;

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
            "netty p99 us",
            "RDMA B/block"));
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
              us(one.nettyP99Us()),
              one.rdmaBytes().format(0)));
    }
    return "time of one request at a time, RDMA / netty: median (min..max) of the rounds;\n"
        + "B/block is what the reader allocated on the heap for each block: task and plug-in\n"
        + TextTable.of(rows, column -> false)
        + goals(cases);
  }

  private static String us(Spread spread) {
    return spread.format(0);
  }

  private static String goals(List<LatencyCase> cases) {
    StringBuilder lines = new StringBuilder();
    for (LatencyCase one : cases) {
      if (one.blockBytes() == GOAL_BYTES) {
        if (one.batch() == 1) {
          lines.append(goal("p50 ratio of one block of 4k", one.p50Ratio(), MAX_RATIO, 2));
          lines.append(goal("p99 ratio of one block of 4k", one.p99Ratio(), MAX_RATIO, 2));
        }
        String bytes = "bytes allocated for each block of 4k, batch of %,d".formatted(one.batch());
        lines.append(goal(bytes, one.rdmaBytes(), MAX_BYTES, 0));
      }
    }
    return lines.toString();
  }

  /** One line; the median of the rounds is judged. */
  private static String goal(String figure, Spread value, double limit, int decimals) {
    String number = "%." + decimals + "f";
    return String.format(
        Locale.ROOT,
        "%s: " + number + ", goal at most " + number + ": %s%n",
        figure,
        value.median(),
        limit,
        value.median() <= limit ? "reached" : "not reached");
  }
}
