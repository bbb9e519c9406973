// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Sends an executor's figures when the driver does not have them: every ten seconds while they
 * change, a second after they have stopped changing, and when the last reading task has ended.
 * Figures that the driver does not take follow ten seconds later. Confined to the control thread.
 */
final class FigureReports {
  /** Interval of {@link #tick}. */
  static final long TICK_MS = 500;

  private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long QUIET_INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<Map<String, Object>> figures;
  private final Predicate<Map<String, Object>> driver;
  private final LongSupplier nowNs;
  private Map<String, Object> seen = Map.of();
  private Map<String, Object> taken = Map.of();
  private boolean refused;
  private long sentNs;

  /**
   * @param driver sends figures, and returns whether the driver has taken them
   */
  FigureReports(
      Supplier<Map<String, Object>> figures,
      Predicate<Map<String, Object>> driver,
      LongSupplier nowNs) {
    this.figures = figures;
    this.driver = driver;
    this.nowNs = nowNs;
    this.sentNs = nowNs.getAsLong() - INTERVAL_NS;
  }

  /** Sends the figures when they are due. */
  void tick() {
    Map<String, Object> now = figures.get();
    boolean quiet = now.equals(seen) && !refused;
    seen = now;
    if (nowNs.getAsLong() - sentNs >= (quiet ? QUIET_INTERVAL_NS : INTERVAL_NS)) {
      send(now);
    }
  }

  /** Sends the figures now, if the driver does not have them. */
  void sendUnsent() {
    send(figures.get());
  }

  private void send(Map<String, Object> now) {
    if (!now.equals(taken)) {
      sentNs = nowNs.getAsLong();
      refused = !driver.test(now);
      taken = refused ? taken : now;
    }
  }
}
