// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The endpoints of other executors as the driver last reported them, and the look-ups that wait for
 * its next answer.
 *
 * <p>Each answer contains all changes, so that many concurrent look-ups cost one query. Queries for
 * executors without a record become ever rarer, see {@link AbsentExecutors}. The directory's thread
 * queries; everything else is safe for any thread.
 */
final class EndpointCache implements EndpointLookup {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointCache.class);
  private static final long RECHECK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  /** Interval for executors without RDMA, whose device may come back. */
  private static final long WITHDRAWN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(60);

  private final DriverCall driver;
  private final Supplier<CompletableFuture<Optional<Endpoint>>> newAnswer;
  private final LongSupplier nowNs;
  private final Executor thread;

  /** Endpoints of all executors with a record; empty for those without RDMA. */
  private final Map<String, Optional<Endpoint>> known = new ConcurrentHashMap<>();

  private final AbsentExecutors absences;

  private Map<String, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();
  private boolean closed;
  private long recheckedNs;

  /** Confined to the directory's thread. */
  private long version;

  /**
   * @param timeout maximum wait of a look-up
   * @param thread the directory's thread
   */
  EndpointCache(DriverCall driver, Duration timeout, LongSupplier nowNs, Executor thread) {
    this(driver, () -> answerWithin(timeout), nowNs, thread);
  }

  /**
   * @param newAnswer creates the answer of a look-up, which ends after a time; may throw any Error
   */
  EndpointCache(
      DriverCall driver,
      Supplier<CompletableFuture<Optional<Endpoint>>> newAnswer,
      LongSupplier nowNs,
      Executor thread) {
    this.driver = driver;
    this.newAnswer = newAnswer;
    this.nowNs = nowNs;
    this.thread = thread;
    this.absences = new AbsentExecutors(nowNs);
    this.recheckedNs = nowNs.getAsLong() - WITHDRAWN_INTERVAL_NS;
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
      boolean queried = awaitsQuery();
      answer = waiting.get(executorId);
      if (answer != null) {
        return answer;
      }
      // The first time-out of a JVM starts a thread, which may fail: nothing has changed by then.
      answer = newAnswer.get();
      first = !queried;
      waiting.put(executorId, answer);
    }
    if (first) {
      try {
        thread.execute(this::refresh);
      } catch (Throwable e) {
        LOG.warn(
            "Cannot query the driver's RDMA directory; blocks use TCP until a later query succeeds",
            e);
        answerAll(takeWaiting());
      }
    }
    return answer;
  }

  /**
   * Whether look-ups wait for a query. One that has timed out may wait for a query that will never
   * come, because there was no memory for it, and does not count. Call with the lock.
   */
  private boolean awaitsQuery() {
    waiting.values().removeIf(CompletableFuture::isDone);
    return !waiting.isEmpty();
  }

  private static CompletableFuture<Optional<Endpoint>> answerWithin(Duration timeout) {
    return new CompletableFuture<Optional<Endpoint>>()
        .completeOnTimeout(Optional.empty(), timeout.toNanos(), TimeUnit.NANOSECONDS);
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
      if (closed || awaitsQuery() || now - recheckedNs < intervalNs) {
        return;
      }
      recheckedNs = now;
    }
    thread.execute(this::refresh);
  }

  /** Queries the changes and answers all look-ups that waited at its start. */
  private void refresh() {
    Map<String, CompletableFuture<Optional<Endpoint>>> asked = takeWaiting();
    boolean answered = tryQuery();
    asked.forEach(
        (executorId, answer) -> {
          Optional<Endpoint> endpoint = known.get(executorId);
          if (endpoint == null && answered) {
            absences.addMiss(executorId);
          } else if (endpoint == null) {
            absences.addFailure(executorId);
          }
          answer.complete(endpoint == null ? Optional.empty() : endpoint);
        });
  }

  /** Whether the driver has answered. */
  private boolean tryQuery() {
    try {
      take(driver.ask(new ArrayList<>(List.of(DirectoryService.CHANGES, version))));
      return true;
    } catch (Throwable e) {
      // Also an Error, which the executor service would swallow: the look-ups need an answer.
      LOG.debug("Driver's RDMA directory did not answer", e);
      return false;
    }
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

  /** New look-ups are answered with an empty result from now on. */
  synchronized void close() {
    closed = true;
  }

  /** Answers all waiting look-ups with an empty result. */
  void answerWaiting() {
    answerAll(takeWaiting());
  }
}
