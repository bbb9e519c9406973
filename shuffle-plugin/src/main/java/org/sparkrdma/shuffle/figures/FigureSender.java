// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.figures;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.Figure;

/**
 * Sends the figures of this executor to the driver, whose {@code ui.FigureReceiver} takes them,
 * when it does not have them: every five seconds, after {@link #reportSoon}, at {@link #reportNow},
 * and at the close. All calls of the driver run on the executor's control thread; the runtime owns
 * that and closes this before. Safe for any thread.
 */
public final class FigureSender implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FigureSender.class);

  /** Time from the end of the last reading task to its report: others may follow it at once. */
  private static final long AFTER_READS_MS = 10;

  /** Stages may be short: on average reports are at least so far apart. */
  private static final long MIN_REPORT_MS = 1_000;

  /** Reports that may come sooner, as those of a short application. */
  static final int SOONER_REPORTS = 5;

  private static final long REPORT_INTERVAL_MS = 5_000;
  private static final long LAST_FIGURES_MS = 1_000;

  private final Predicate<Map<String, Object>> driver;
  private final ScheduledExecutorService control;
  private final LongSupplier nowNs;

  /** A second for each report since an idle time; the control thread writes. */
  private volatile long paidNs;

  /** The figures that the driver has taken last. Confined to the control thread. */
  private Map<String, Object> takenFigures = Map.of();

  /** Sends the figures that the driver does not have. Null until {@link #start} and at the end. */
  private volatile Runnable reports;

  private BooleanSupplier reading;
  private boolean reportsSoon;

  /**
   * Sends nothing before {@link #start}.
   *
   * @param driver asks it to take figures by their names, and returns whether it did
   */
  public FigureSender(
      Predicate<Map<String, Object>> driver, LongSupplier nowNs, ScheduledExecutorService control) {
    this.driver = driver;
    this.control = control;
    this.nowNs = nowNs;
    this.paidNs = nowNs.getAsLong();
  }

  /**
   * Begins to send. Called once.
   *
   * @param figures called by the control thread
   * @param onTaken called by the control thread when the driver has the figures; returns whether
   *     more of {@link Figure#STAGES} wait
   * @param readsNow whether a task reads now; called by the control thread
   */
  public void start(
      Supplier<Map<String, Object>> figures, BooleanSupplier onTaken, BooleanSupplier readsNow) {
    reading = readsNow;
    reports = () -> send(figures, onTaken);
    schedule(this::tick, 0);
  }

  private void send(Supplier<Map<String, Object>> figures, BooleanSupplier onTaken) {
    boolean more = true;
    while (more) {
      Map<String, Object> now = figures.get();
      if (now.equals(takenFigures)) {
        return;
      }
      paidNs = Math.max(paidNs, nowNs.getAsLong()) + TimeUnit.MILLISECONDS.toNanos(MIN_REPORT_MS);
      if (!driver.test(now)) {
        return;
      }
      takenFigures = new HashMap<>(now);
      // Of other bytes than the next.
      takenFigures.remove(Figure.STAGES);
      more = onTaken.getAsBoolean();
    }
  }

  /** Sends new figures now, and again after the interval. */
  private void tick() {
    Runnable current = reports;
    if (current != null) {
      current.run();
      schedule(this::tick, REPORT_INTERVAL_MS);
    }
  }

  /**
   * The last task that reads has ended, or the state of RDMA has changed: new figures are sent
   * soon, or where many were sent within seconds, a second after the last ones, unless a task reads
   * by then, whose end is reported in turn. Returns at once.
   */
  public synchronized void reportSoon() {
    if (reports != null && !reportsSoon) {
      reportsSoon = true;
      long unpaidMs = TimeUnit.NANOSECONDS.toMillis(paidNs - nowNs.getAsLong());
      long laterMs = unpaidMs - SOONER_REPORTS * MIN_REPORT_MS;
      schedule(this::reportAfterReads, Math.max(AFTER_READS_MS, laterMs));
    }
  }

  /**
   * The executor ends, perhaps before {@link #close}: new figures are sent now. Returns at once.
   */
  public void reportNow() {
    Runnable last = reports;
    if (last != null) {
      control.execute(last);
    }
  }

  private void reportAfterReads() {
    synchronized (this) {
      // Before the look at the tasks, so that the end of one that reads now is not missed.
      reportsSoon = false;
    }
    Runnable current = reports;
    if (current != null && !reading.getAsBoolean()) {
      current.run();
    }
  }

  private void schedule(Runnable task, long delayMs) {
    var unused = control.schedule(task, delayMs, TimeUnit.MILLISECONDS);
  }

  /** Sends the last figures, for which it waits a second at most. A second close does nothing. */
  @Override
  public void close() {
    Runnable last = reports;
    reports = null;
    if (last != null) {
      await(control.submit(last));
    }
  }

  private static void await(Future<?> sent) {
    try {
      sent.get(LAST_FIGURES_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("Driver did not accept the last figures in time", e);
    }
  }
}
