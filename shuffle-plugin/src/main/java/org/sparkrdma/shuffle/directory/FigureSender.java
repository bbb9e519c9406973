// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the figures of this executor to the driver when {@link FigureReports} requests them.
 * Confined to the thread of the {@link DirectoryClient}.
 */
final class FigureSender {
  private static final Logger LOG = LoggerFactory.getLogger(FigureSender.class);

  private final DriverCall driver;
  private final LongSupplier nowNs;
  private final String executorId;
  private final FigureReports reports;
  private final BooleanSupplier reading;

  FigureSender(
      DriverCall driver,
      LongSupplier nowNs,
      String executorId,
      Supplier<Map<String, Object>> figures,
      BooleanSupplier reading) {
    this.driver = driver;
    this.nowNs = nowNs;
    this.executorId = executorId;
    this.reports = new FigureReports(figures);
    this.reading = reading;
  }

  /** Called every {@link FigureReports#TICK_MS}. */
  void sendDue() {
    reports.due(nowNs.getAsLong()).ifPresent(this::send);
  }

  /** Whether a task reads now. */
  boolean isReading() {
    return reading.getAsBoolean();
  }

  /** Time in ns until {@link #sendUnsent} may be called after reads; at most 0 for now. */
  long pauseNs() {
    return reports.pauseNs(nowNs.getAsLong());
  }

  /** Sends figures that the driver does not have. */
  void sendUnsent() {
    reports.unsent(nowNs.getAsLong()).ifPresent(this::send);
  }

  private void send(Map<String, Object> figures) {
    boolean taken = false;
    try {
      List<Object> message = new FiguresMessage(executorId, figures).encode();
      taken =
          Boolean.TRUE.equals(
              driver.ask(new ArrayList<>(List.of(DirectoryService.FIGURES, message))));
    } catch (Throwable e) {
      // Also an Error: the next report follows.
      LOG.debug("Driver did not accept the figures of this executor", e);
    }
    reports.onAnswer(figures, taken);
  }
}
