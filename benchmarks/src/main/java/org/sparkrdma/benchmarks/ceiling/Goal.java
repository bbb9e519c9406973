// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A limit of a figure that blocks of one length must keep. */
record Goal(int blockBytes, Figure figure, double limit, String text) {
  private static final int SMALL = 4 << 10;
  private static final int MEDIUM = 64 << 10;

  private static final List<Goal> ALL =
      List.of(
          new Goal(SMALL, Figure.BOTH_US, 1.5, "CPU us of both executors per 4 KiB block"),
          new Goal(SMALL, Figure.AGENT_US, 0.65, "CPU us of the agent per 4 KiB block"),
          new Goal(MEDIUM, Figure.AGENT_US, 1.3, "CPU us of the agent per 64 KiB block"),
          new Goal(SMALL, Figure.CPU_RATIO, 0.05, "CPU of a 4 KiB block, to Spark's own client"),
          new Goal(SMALL, Figure.AGENT_BYTES, 0, "bytes allocated by the agent per 4 KiB block"),
          new Goal(
              SMALL, Figure.CLIENT_BYTES, 200, "bytes allocated by the client per 4 KiB block"));

  /** One sentence for each goal and case that it applies to. */
  static List<String> verdicts(List<CeilingCase> cases) {
    List<String> verdicts = new ArrayList<>();
    for (Goal goal : ALL) {
      for (CeilingCase one : cases) {
        if (one.blockBytes() == goal.blockBytes) {
          verdicts.add(goal.verdict(one));
        }
      }
    }
    return verdicts;
  }

  private String verdict(CeilingCase one) {
    double value = one.median(figure);
    return String.format(
        Locale.ROOT,
        "%s, %d %s: %.2f, goal at most %s: %s",
        text,
        one.peers(),
        one.peers() == 1 ? "peer" : "peers",
        value,
        limit,
        value <= limit ? "reached" : "not reached");
  }
}
