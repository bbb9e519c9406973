// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * When an executor sends its figures: every ten seconds while they change, and once they have
 * stopped changing. Confined to the thread of the {@link DirectoryClient}.
 */
final class FigureReports {
  /** Interval of {@link #due}. */
  static final long TICK_MS = 500;

  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);

  private final Supplier<Map<String, Object>> figures;
  private Map<String, Object> seen = Map.of();
  private Map<String, Object> sent = Map.of();
  private long sentNs;

  FigureReports(Supplier<Map<String, Object>> figures) {
    this.figures = figures;
  }

  /** The figures to send now. */
  Optional<Map<String, Object>> due(long nowNs) {
    Map<String, Object> now = figures.get();
    boolean quiet = now.equals(seen);
    seen = now;
    boolean due = sent.isEmpty() || quiet || nowNs - sentNs >= INTERVAL_NS;
    return due ? unsent(now, nowNs) : Optional.empty();
  }

  /** The figures to send when no other report follows. */
  Optional<Map<String, Object>> last(long nowNs) {
    return unsent(figures.get(), nowNs);
  }

  private Optional<Map<String, Object>> unsent(Map<String, Object> now, long nowNs) {
    if (now.equals(sent)) {
      return Optional.empty();
    }
    // Also when the driver does not answer: the next report is as complete.
    sent = now;
    sentNs = nowNs;
    return Optional.of(now);
  }
}
