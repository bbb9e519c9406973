// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor's side of the directory: publishes this executor ({@link RecordPublisher}), finds
 * others ({@link EndpointCache}), and sends its figures and findings.
 *
 * <p>One thread calls the driver, for all of them. Owned by the runtime, which closes it; safe for
 * any thread.
 */
public final class DirectoryClient implements EndpointLookup, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryClient.class);

  /**
   * Maximum wait for the driver to know the ResourceProfile of an executor that has just started.
   */
  private static final long PROFILE_LIMIT_MS = 2_000;

  private static final long PROFILE_RETRY_MS = 50;

  /** Maximum wait of a close for the last figures. */
  private static final long LAST_FIGURES_MS = 1_000;

  private final DriverCall driver;
  private final Duration timeout;
  private final LongSupplier nowNs;
  private final ScheduledThreadPoolExecutor asker;
  private final RecordPublisher records;
  private final EndpointCache endpoints;

  /** Null until {@link #report}, and after the close. */
  private FigureSender sender;

  /** Sends figures at each tick; null as {@link #sender}. */
  private QueuedWork reports;

  /** Whether {@link #reportAfterReads} is scheduled. */
  private boolean reportsSoon;

  /** Creates the client of this executor. */
  public DirectoryClient(SparkEnv env, Duration timeout) {
    this(new RpcDriverCall(env.conf(), env.rpcEnv(), timeout), timeout, System::nanoTime);
  }

  DirectoryClient(DriverCall driver, Duration timeout, LongSupplier nowNs) {
    this(driver, timeout, nowNs, new DirectoryThread(DirectoryClient::newThread));
  }

  /**
   * @param asker has one thread
   */
  DirectoryClient(
      DriverCall driver, Duration timeout, LongSupplier nowNs, ScheduledThreadPoolExecutor asker) {
    this.driver = driver;
    this.timeout = timeout;
    this.nowNs = nowNs;
    this.asker = asker;
    this.records = new RecordPublisher(driver, this::schedule);
    this.endpoints = new EndpointCache(driver, timeout, nowNs, query -> schedule(query, 0));
  }

  static Thread newThread(Runnable task) {
    Thread thread = new Thread(task, "rdma-directory");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Publishes an endpoint. Retries until the driver answers, a later record is published, or the
   * client is closed.
   *
   * @return completes with whether the driver took it; not when this is closed before
   */
  public CompletableFuture<Boolean> publish(Endpoint endpoint) {
    return records.publish(endpoint);
  }

  /**
   * Publishes that this executor does not use RDMA, or not any more; retries as {@link
   * #publish(Endpoint)}. The driver refuses a late endpoint that was published before.
   *
   * @param reasons for the driver's log
   */
  public CompletableFuture<Boolean> withdraw(String executorId, List<String> reasons) {
    return records.withdraw(executorId, reasons);
  }

  /**
   * Goes on with the retries of the last {@link #publish} or {@link #withdraw} where there was no
   * memory or no thread for the next one, or for the first try, and with the reports of figures
   * likewise. Called each second; may throw any Error.
   *
   * @return whether the driver has answered
   */
  public boolean retry() {
    boolean taken = records.retry();
    goOnReporting();
    return taken;
  }

  /**
   * Requests that the driver gives an executor no more tasks.
   *
   * @return completes with whether it does; not when no other executor could run them
   */
  public CompletableFuture<Boolean> exclude(String executorId) {
    CompletableFuture<Boolean> excluded = new CompletableFuture<>();
    schedule(
        () -> {
          if (excluded.isDone()) {
            // The task has stopped waiting, and asks again.
            return;
          }
          try {
            Object answer =
                driver.ask(new ArrayList<>(List.of(DirectoryService.EXCLUDE, executorId)));
            excluded.complete(RecordCodec.as(Boolean.class, answer));
          } catch (Throwable e) {
            excluded.completeExceptionally(e);
          }
        },
        0);
    return excluded.orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * The resources of an executor's ResourceProfile. Retries while the driver does not know the
   * executor yet.
   *
   * @return completes with the amounts by Spark's names, memory in MiB, with none for the default
   *     profile; or with an exception after two seconds, or when the driver does not answer
   */
  public CompletableFuture<Map<String, Long>> profile(String executorId) {
    CompletableFuture<Map<String, Long>> profile = new CompletableFuture<>();
    schedule(() -> askForProfile(executorId, profile), 0);
    return profile.orTimeout(PROFILE_LIMIT_MS, TimeUnit.MILLISECONDS);
  }

  private void askForProfile(String executorId, CompletableFuture<Map<String, Long>> profile) {
    if (profile.isDone()) {
      return;
    }
    try {
      Object answer = driver.ask(new ArrayList<>(List.of(DirectoryService.PROFILE, executorId)));
      RecordCodec.resources(answer)
          .ifPresentOrElse(
              profile::complete,
              () -> schedule(() -> askForProfile(executorId, profile), PROFILE_RETRY_MS));
    } catch (Throwable e) {
      profile.completeExceptionally(e);
    }
  }

  /**
   * Sends the figures of this executor to the driver from time to time, and at the close; see
   * {@link FigureReports}. Called once.
   *
   * @param reading whether a task reads now; called by the thread of this client
   */
  public void report(
      String executorId, Supplier<Map<String, Object>> figures, BooleanSupplier reading) {
    FigureSender created = new FigureSender(driver, nowNs, executorId, figures, reading);
    QueuedWork ticks = new QueuedWork(this::schedule, () -> reportNext(created));
    synchronized (this) {
      sender = created;
      reports = ticks;
    }
    ticks.queue(0);
  }

  /** Goes on with the reports where an Error has ended them; they are queued otherwise. */
  private void goOnReporting() {
    QueuedWork ticks;
    synchronized (this) {
      ticks = reports;
    }
    if (ticks != null) {
      ticks.queue(0);
    }
  }

  /**
   * The last task that reads has ended: new figures are sent soon, unless another task reads by
   * then, whose end is reported in turn. Returns at once.
   */
  public void reportSoon() {
    goOnReporting();
    FigureSender reporting;
    synchronized (this) {
      if (sender == null || reportsSoon) {
        return;
      }
      reportsSoon = true;
      reporting = sender;
    }
    scheduleReportAfterReads(reporting, FigureReports.QUIET_MS);
  }

  private void scheduleReportAfterReads(FigureSender reporting, long delayMs) {
    boolean scheduled = false;
    try {
      schedule(() -> reportAfterReads(reporting), delayMs);
      scheduled = true;
    } finally {
      if (!scheduled) {
        // After an Error the next task that ends tries again.
        endReportAfterReads();
      }
    }
  }

  private synchronized void endReportAfterReads() {
    reportsSoon = false;
  }

  private void reportAfterReads(FigureSender reporting) {
    long pauseNs = reporting.pauseNs();
    if (pauseNs > 0) {
      scheduleReportAfterReads(reporting, TimeUnit.NANOSECONDS.toMillis(pauseNs) + 1);
      return;
    }
    // Before the look at the tasks, so that the end of one that reads now is not missed.
    endReportAfterReads();
    if (!reporting.isReading()) {
      reporting.sendUnsent();
    }
  }

  /**
   * Sends findings to the driver once; retries for about six seconds.
   *
   * @param findings of this executor
   */
  public void send(ExecutorFindings findings) {
    schedule(() -> trySend(findings, RecordPublisher.FIRST_RETRY_MS), 0);
  }

  private void trySend(ExecutorFindings findings, long retryMs) {
    boolean taken = false;
    try {
      taken =
          Boolean.TRUE.equals(
              driver.ask(new ArrayList<>(List.of(DirectoryService.FINDINGS, findings.encode()))));
    } catch (Throwable e) {
      LOG.debug("Driver did not accept the findings; retrying in {} ms", retryMs, e);
    }
    if (!taken && retryMs <= RecordPublisher.LAST_RETRY_MS) {
      schedule(() -> trySend(findings, 2 * retryMs), retryMs);
    }
  }

  private static long reportNext(FigureSender reporting) {
    try {
      reporting.sendDue();
    } catch (Throwable e) {
      // Also an Error: the next report follows.
      LOG.debug("Figures of this executor could not be collected", e);
    }
    return FigureReports.TICK_MS;
  }

  @Override
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    return endpoints.find(executorId);
  }

  @Override
  public void recheck() {
    endpoints.recheck();
  }

  /** Number of entries about other executors. */
  int size() {
    return endpoints.size();
  }

  private void schedule(Runnable task, long delayMs) {
    try {
      var unused = asker.schedule(task, delayMs, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("RDMA directory client is closed");
    }
  }

  /**
   * Sends the last figures, and answers all waiting look-ups with an empty result; a second close
   * does nothing.
   */
  @Override
  public void close() {
    endpoints.close();
    FigureSender last;
    synchronized (this) {
      last = sender;
      sender = null;
      reports = null;
    }
    if (last != null) {
      schedule(last::sendUnsent, 0);
      asker.shutdown();
      awaitLastFigures();
    }
    asker.shutdownNow();
    endpoints.answerWaiting();
  }

  private void awaitLastFigures() {
    try {
      if (!asker.awaitTermination(LAST_FIGURES_MS, TimeUnit.MILLISECONDS)) {
        LOG.debug("Driver did not accept the last figures in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
