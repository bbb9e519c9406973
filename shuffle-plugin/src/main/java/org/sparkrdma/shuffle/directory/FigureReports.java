// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The times at which an executor sends its figures: every ten seconds while they change, earlier
 * when they have stopped changing, and again after ten seconds when the driver has not taken them.
 * Confined to the thread of the {@link DirectoryClient}.
 */
final class FigureReports {
  /** Interval of {@link #due}. */
  static final long TICK_MS = 500;

  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long QUIET_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  private final Supplier<Map<String, Object>> figures;
  private Map<String, Object> seen = Map.of();
  private Map<String, Object> taken = Map.of();
  private boolean refused;
  private boolean begun;
  private long triedNs;

  FigureReports(Supplier<Map<String, Object>> figures) {
    this.figures = figures;
  }

  /** The figures to send now; the caller then calls {@link #onAnswer}. */
  Optional<Map<String, Object>> due(long nowNs) {
    Map<String, Object> now = figures.get();
    boolean quiet = now.equals(seen);
    seen = now;
    long sinceNs = nowNs - triedNs;
    boolean soon = quiet && !refused && sinceNs >= QUIET_INTERVAL_NS;
    return !begun || soon || sinceNs >= INTERVAL_NS ? news(now, nowNs) : Optional.empty();
  }

  /** The figures to send when no other report follows. */
  Optional<Map<String, Object>> last(long nowNs) {
    return news(figures.get(), nowNs);
  }

  /** Figures that the driver has not taken are sent again after the interval. */
  void onAnswer(Map<String, Object> sent, boolean accepted) {
    refused = !accepted;
    if (accepted) {
      taken = sent;
    }
  }

  private Optional<Map<String, Object>> news(Map<String, Object> now, long nowNs) {
    if (now.equals(taken)) {
      return Optional.empty();
    }
    begun = true;
    triedNs = nowNs;
    return Optional.of(now);
  }
}
