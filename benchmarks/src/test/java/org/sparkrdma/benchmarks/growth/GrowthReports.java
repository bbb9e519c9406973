// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkrdma.benchmarks.jobs.environment.MachineFacts;
import org.sparkrdma.benchmarks.jobs.environment.RecordedReport;

/** Reports of simulated shuffles for tests. Stateless. */
public final class GrowthReports {
  private GrowthReports() {}

  /** A report of 10, 1,000 and 2,000 executors, with numbers as wide as those of a simulation. */
  public static RecordedReport<Growth> report() {
    Map<String, Growth.Exponents> exponents = new LinkedHashMap<>();
    exponents.put("connections", new Growth.Exponents(0.97, 0.036));
    exponents.put("highest pinned bytes", new Growth.Exponents(0.01, -0.001));
    exponents.put("ms to the first block", new Growth.Exponents(0.07, 0.47));
    List<SimulatedShuffle> growth =
        List.of(
            shuffle(10, 4, 1, 9, 958_468_096, 0.33),
            shuffle(1_000, 4, 1, 999, 987_475_968, 0.36),
            shuffle(2_000, 4, 1, 1_024, 1_005_010_944, 0.5));
    return new RecordedReport<>(
        "./bench growth",
        new MachineFacts(
            "2026-11-25T09:00:00Z", "1.0, commit 0123456789", "4.2.0", "17", "a processor", 0.5),
        new Growth(
            exponents,
            growth,
            List.of(shuffle(1_001, 64, 1, 1_000, 268_435_456, 0.4)),
            List.of(shuffle(500, 4, 5, 499, 1_073_741_824, 0.4))));
  }

  private static SimulatedShuffle shuffle(
      int executors, int tasks, int waves, int connections, long pinnedBytes, double firstBlockMs) {
    return new SimulatedShuffle(
        new SimulatedShuffle.Shape(executors, 10_000, tasks, 64 << 10, 1L << 30, 1_024, waves),
        connections,
        pinnedBytes,
        9_811,
        Map.of("LOCATE", 4L * executors, "CONFIRM", (long) connections),
        41_594,
        199_600,
        199_600,
        320.4,
        32L << 20,
        Map.of("up to 5 ms", 682L),
        269.9,
        Map.of("POOL_EMPTY", 7_608L),
        Map.of(),
        Map.of(
            "connections",
            (double) connections,
            "highest pinned bytes",
            (double) pinnedBytes,
            "ms to the first block",
            firstBlockMs));
  }
}
