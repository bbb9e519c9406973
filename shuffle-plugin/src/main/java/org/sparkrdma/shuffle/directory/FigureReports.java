// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The times at which an executor sends its figures: 20 ms after the end of its last task that
 * reads, unless another one reads by then, and at most every 100 ms; every ten seconds while they
 * change, after a second when they have stopped changing, and again after ten seconds when the
 * driver has not taken them. Confined to the thread of the {@link DirectoryClient}.
 */
final class FigureReports {
  /** Interval of {@link #due}. */
  static final long TICK_MS = 500;

  /**
   * Time from the end of the last task that reads to a report. Longer than most pauses between two
   * tasks of one core, so that a stage of many short tasks makes one report and not one for each.
   */
  static final long QUIET_MS = 20;

  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long QUIET_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long MIN_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(100);

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

  /** Time in ns until figures may be sent after reads; at most 0 when they may be sent now. */
  long pauseNs(long nowNs) {
    return begun ? triedNs + MIN_INTERVAL_NS - nowNs : 0;
  }

  /** The figures to send now whatever the time; empty when the driver has them. */
  Optional<Map<String, Object>> unsent(long nowNs) {
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
