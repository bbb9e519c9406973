// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor's side of the directory: publishes this executor and finds others.
 *
 * <p>One thread queries the driver. Each answer contains all changes, so that many concurrent
 * look-ups cost one query. Queries for executors without a record become ever rarer, see {@link
 * AbsentExecutors}. Owned by the runtime, which closes it; safe for any thread.
 */
public final class DirectoryClient implements EndpointLookup, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryClient.class);
  private static final long FIRST_RETRY_MS = 50;
  private static final long LAST_RETRY_MS = 5_000;
  private static final long RECHECK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  /** For executors without RDMA, whose device may come back. */
  private static final long WITHDRAWN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(60);

  /** Maximum wait of a close for the last figures. */
  private static final long LAST_FIGURES_MS = 1_000;

  private final DriverCall driver;
  private final Duration timeout;
  private final LongSupplier nowNs;
  private final ScheduledThreadPoolExecutor asker;
  private final long publisher = new SecureRandom().nextLong();

  /** Endpoints of all executors with a record; empty for those without RDMA. */
  private final Map<String, Optional<Endpoint>> known = new ConcurrentHashMap<>();

  private final AbsentExecutors absences;

  private Map<String, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();
  private boolean closed;
  private long lastEpoch;
  private long recheckedNs;

  /** Sends the last figures; null until {@link #report}. */
  private Runnable lastReport;

  /** Confined to the querying thread. */
  private long version;

  /** Creates the client of this executor. */
  public DirectoryClient(SparkEnv env, Duration timeout) {
    this(new RpcDriverCall(env.conf(), env.rpcEnv(), timeout), timeout, System::nanoTime);
  }

  DirectoryClient(DriverCall driver, Duration timeout, LongSupplier nowNs) {
    this.driver = driver;
    this.timeout = timeout;
    this.nowNs = nowNs;
    this.absences = new AbsentExecutors(nowNs);
    this.recheckedNs = nowNs.getAsLong() - WITHDRAWN_INTERVAL_NS;
    this.asker =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "rdma-directory");
              thread.setDaemon(true);
              return thread;
            });
    asker.setRemoveOnCancelPolicy(true);
    asker.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Publishes an endpoint. Retries until the driver answers, a later record is published, or the
   * client is closed.
   *
   * @return completes with whether the driver took it; not when this is closed before
   */
  public CompletableFuture<Boolean> publish(Endpoint endpoint) {
    return publish(ExecutorRecord.available(endpoint, publisher, nextEpoch()));
  }

  /**
   * Publishes that this executor does not use RDMA, or not any more; retries as {@link
   * #publish(Endpoint)}. The driver refuses a late endpoint that was published before.
   *
   * @param reasons for the driver's log
   */
  public CompletableFuture<Boolean> withdraw(String executorId, List<String> reasons) {
    return publish(ExecutorRecord.unavailable(executorId, reasons, publisher, nextEpoch()));
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
   * Sends the figures of this executor to the driver from time to time, and at the close; see
   * {@link FigureReports}. Called once.
   */
  public void report(String executorId, Supplier<Map<String, Object>> figures) {
    FigureSender sender = new FigureSender(driver, nowNs, executorId, figures);
    synchronized (this) {
      lastReport = sender::sendLast;
    }
    schedule(() -> reportNext(sender), 0);
  }

  /**
   * Sends findings to the driver once; retries for about six seconds.
   *
   * @param findings of this executor
   */
  public void send(ExecutorFindings findings) {
    schedule(() -> trySend(findings, FIRST_RETRY_MS), 0);
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
    if (!taken && retryMs <= LAST_RETRY_MS) {
      schedule(() -> trySend(findings, 2 * retryMs), retryMs);
    }
  }

  private void reportNext(FigureSender sender) {
    try {
      sender.sendDue();
    } finally {
      schedule(() -> reportNext(sender), FigureReports.TICK_MS);
    }
  }

  private synchronized long nextEpoch() {
    return ++lastEpoch;
  }

  private synchronized boolean isLatest(ExecutorRecord record) {
    return record.epoch() == lastEpoch;
  }

  private CompletableFuture<Boolean> publish(ExecutorRecord record) {
    CompletableFuture<Boolean> taken = new CompletableFuture<>();
    schedule(() -> tryToPublish(record, taken, FIRST_RETRY_MS), 0);
    return taken;
  }

  private void tryToPublish(ExecutorRecord record, CompletableFuture<Boolean> taken, long retryMs) {
    try {
      Object answer =
          driver.ask(
              new ArrayList<>(List.of(DirectoryService.PUBLISH, RecordCodec.encode(record))));
      taken.complete(RecordCodec.as(Boolean.class, answer));
    } catch (Throwable e) {
      if (isLatest(record)) {
        LOG.debug("Driver did not accept the RDMA endpoint; retrying in {} ms", retryMs, e);
        schedule(() -> tryToPublish(record, taken, Math.min(2 * retryMs, LAST_RETRY_MS)), retryMs);
      } else {
        taken.complete(false);
      }
    }
  }

  @Override
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    Optional<Endpoint> endpoint = known.get(executorId);
    if (endpoint != null) {
      if (endpoint.isEmpty()) {
        recheckAfter(WITHDRAWN_INTERVAL_NS);
      }
      return CompletableFuture.completedFuture(endpoint);
    }
    if (absences.contains(executorId)) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    CompletableFuture<Optional<Endpoint>> answer;
    boolean first;
    synchronized (this) {
      if (closed) {
        return CompletableFuture.completedFuture(Optional.empty());
      }
      first = waiting.isEmpty();
      answer = waiting.computeIfAbsent(executorId, id -> new CompletableFuture<>());
    }
    answer.completeOnTimeout(Optional.empty(), timeout.toNanos(), TimeUnit.NANOSECONDS);
    if (first) {
      try {
        schedule(this::refresh, 0);
      } catch (Throwable e) {
        LOG.warn(
            "Cannot query the driver's RDMA directory; blocks use TCP until a later query succeeds",
            e);
        answerAll(takeWaiting());
      }
    }
    return answer;
  }

  private synchronized Map<String, CompletableFuture<Optional<Endpoint>>> takeWaiting() {
    Map<String, CompletableFuture<Optional<Endpoint>>> taken = waiting;
    waiting = new HashMap<>();
    return taken;
  }

  private static void answerAll(Map<String, CompletableFuture<Optional<Endpoint>>> futures) {
    futures.values().forEach(answer -> answer.complete(Optional.empty()));
  }

  @Override
  public void recheck() {
    recheckAfter(RECHECK_INTERVAL_NS);
  }

  /** Queries the driver when its last answer is older than this. */
  private void recheckAfter(long intervalNs) {
    synchronized (this) {
      long now = nowNs.getAsLong();
      if (closed || !waiting.isEmpty() || now - recheckedNs < intervalNs) {
        return;
      }
      recheckedNs = now;
    }
    schedule(this::refresh, 0);
  }

  /** Queries the changes and answers all look-ups that waited at its start. */
  private void refresh() {
    Map<String, CompletableFuture<Optional<Endpoint>>> asked = takeWaiting();
    try {
      take(driver.ask(new ArrayList<>(List.of(DirectoryService.CHANGES, version))));
    } catch (Throwable e) {
      // Also an Error, which the executor service would swallow: the look-ups need an answer.
      LOG.debug("Driver's RDMA directory did not answer", e);
    }
    asked.forEach(
        (executorId, answer) -> {
          Optional<Endpoint> endpoint = known.get(executorId);
          if (endpoint == null) {
            absences.addMiss(executorId);
          }
          answer.complete(endpoint == null ? Optional.empty() : endpoint);
        });
  }

  private void take(Object answer) {
    List<?> changes = RecordCodec.list(answer, 4);
    if (RecordCodec.as(Boolean.class, changes.get(1))) {
      // The driver has forgotten which executors were removed since the last query.
      known.clear();
    }
    for (Object encoded : RecordCodec.as(List.class, changes.get(2))) {
      takeRecord(encoded);
    }
    for (Object gone : RecordCodec.as(List.class, changes.get(3))) {
      String executorId = RecordCodec.name(gone);
      known.remove(executorId);
      absences.addGone(executorId);
    }
    version = RecordCodec.as(Long.class, changes.get(0));
  }

  private void takeRecord(Object encoded) {
    try {
      ExecutorRecord record = RecordCodec.decode(encoded);
      known.put(record.executorId(), record.endpoint());
      absences.remove(record.executorId());
    } catch (IllegalArgumentException e) {
      // Perhaps from a later version of this plug-in; other records are usable.
      LOG.debug("Ignoring an invalid record from the RDMA directory", e);
    }
  }

  /** Number of entries about other executors. */
  int size() {
    return known.size() + absences.size();
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
    Runnable last;
    synchronized (this) {
      closed = true;
      last = lastReport;
      lastReport = null;
    }
    if (last != null) {
      schedule(last, 0);
      asker.shutdown();
      awaitLastFigures();
    }
    asker.shutdownNow();
    answerAll(takeWaiting());
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
