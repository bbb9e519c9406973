// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the driver for the endpoints that an {@link EndpointCache} lacks, and has the look-ups that
 * wait for its next answer.
 *
 * <p>Each answer contains all changes, so that many concurrent look-ups cost one query. The control
 * thread queries; everything else is safe for any thread.
 */
public final class DirectoryQueries {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryQueries.class);

  /** Interval of queries for executors that were found without an endpoint, or do not answer. */
  private static final long RECHECK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  /** An answer is quick that takes at most this part of the longest wait. */
  private static final int QUICK_PART = 2;

  private final EndpointCache cache = new EndpointCache(this);
  private final DriverCall driver;
  private final Duration wait;
  private final LongSupplier nowNs;
  private final Executor control;
  private final Executor afterWait;

  private Map<String, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();

  /** Whether the control thread has a query to begin. */
  private boolean isAsking;

  private boolean closed;
  private long queriedNs;
  private volatile long answeredNs;

  /** Whether a query has failed, or a look-up has waited for long, and no quick answer has come. */
  private volatile boolean isSlow;

  /** Confined to the control thread. */
  private long version;

  /**
   * @param wait longest one of a look-up
   * @param control the control thread
   * @param afterWait runs what it takes when a look-up has waited that long
   */
  DirectoryQueries(
      DriverCall driver, Duration wait, LongSupplier nowNs, Executor control, Executor afterWait) {
    this.driver = driver;
    this.wait = wait;
    this.nowNs = nowNs;
    this.control = control;
    this.afterWait = afterWait;
    this.queriedNs = nowNs.getAsLong() - RECHECK_INTERVAL_NS;
    this.answeredNs = queriedNs;
  }

  /** What is known so far. */
  EndpointCache cache() {
    return cache;
  }

  /**
   * Finds the endpoint of an executor after the driver is asked once more. After a wait in vain
   * nobody waits until the driver answers quickly again: what is known counts, late answers, too,
   * and the driver is asked every few seconds.
   *
   * @return completed on the control thread or one of timers, which must not be blocked, and never
   *     exceptionally
   */
  public synchronized CompletableFuture<Optional<Endpoint>> query(String executorId) {
    if (closed) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    if (isSlow) {
      recheck();
      return CompletableFuture.completedFuture(cache.now(executorId));
    }
    return waiting.computeIfAbsent(executorId, this::ask);
  }

  /** Call with the lock. */
  private CompletableFuture<Optional<Endpoint>> ask(String executorId) {
    CompletableFuture<Optional<Endpoint>> answer = new CompletableFuture<>();
    queryOnce();
    afterWait.execute(() -> giveUp(executorId, answer));
    return answer;
  }

  private void giveUp(String executorId, CompletableFuture<Optional<Endpoint>> answer) {
    if (!answer.isDone()) {
      isSlow = true;
      answer.complete(cache.now(executorId));
    }
  }

  /** Call with the lock. */
  private void queryOnce() {
    if (!isAsking) {
      isAsking = true;
      queriedNs = nowNs.getAsLong();
      control.execute(this::refresh);
    }
  }

  /**
   * An endpoint does not answer, or an executor has none: queries the directory for changes, at
   * most every few seconds.
   */
  public synchronized void recheck() {
    if (!closed && nowNs.getAsLong() - queriedNs >= RECHECK_INTERVAL_NS) {
      queryOnce();
    }
  }

  /**
   * Queries the directory if nothing has asked it, so that look-ups lack little. Control thread.
   */
  void begin() {
    if (version == 0) {
      recheck();
    }
  }

  /** Queries the changes and answers all look-ups that waited at its start. */
  private void refresh() {
    Map<String, CompletableFuture<Optional<Endpoint>>> asked = takeWaiting();
    long begunNs = nowNs.getAsLong();
    try {
      version = cache.take(driver.ask(new ArrayList<>(List.of(DirectoryService.CHANGES, version))));
      asked.keySet().forEach(cache::onAsked);
      answeredNs = begunNs;
      boolean quick = nowNs.getAsLong() - begunNs <= wait.toNanos() / QUICK_PART;
      isSlow = !quick && (isSlow || !asked.isEmpty());
    } catch (Exception | LinkageError e) {
      LOG.debug("Driver's RDMA directory did not answer", e);
      isSlow = true;
    }
    asked.forEach((id, waits) -> waits.complete(cache.now(id)));
  }

  private synchronized Map<String, CompletableFuture<Optional<Endpoint>>> takeWaiting() {
    Map<String, CompletableFuture<Optional<Endpoint>>> taken = waiting;
    waiting = new HashMap<>();
    isAsking = false;
    return taken;
  }

  /** The time at which the last query that was answered began. */
  public long answeredNs() {
    return answeredNs;
  }

  /** Answers all look-ups, also later ones, with an empty result. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    takeWaiting().values().forEach(answer -> answer.complete(Optional.empty()));
  }
}
