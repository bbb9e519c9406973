// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The endpoints of other executors as the driver last reported them, and the look-ups that wait for
 * its next answer.
 *
 * <p>Each answer contains all changes, so that many concurrent look-ups cost one query. The control
 * thread queries; everything else is safe for any thread.
 */
public final class EndpointCache {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointCache.class);

  /** Interval of queries for executors that were found without an endpoint, or do not answer. */
  private static final long RECHECK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  private final DriverCall driver;
  private final Duration timeout;
  private final LongSupplier nowNs;
  private final Executor control;

  /** Executors that have a record; empty for those without RDMA. */
  private final Map<String, Optional<Endpoint>> known = new ConcurrentHashMap<>();

  /** Executors of which the driver has no record; those that it has said lately. */
  private final Set<String> ended = ConcurrentHashMap.newKeySet();

  private Map<String, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();
  private boolean queries;
  private boolean closed;
  private long queriedNs;
  private volatile long answeredNs;

  /** Whether the driver has not answered the last query. */
  private volatile boolean isSilent;

  /** Confined to the control thread. */
  private long version;

  /**
   * @param timeout maximum wait of a look-up
   * @param control the control thread
   */
  EndpointCache(DriverCall driver, Duration timeout, LongSupplier nowNs, Executor control) {
    this.driver = driver;
    this.timeout = timeout;
    this.nowNs = nowNs;
    this.control = control;
    this.queriedNs = nowNs.getAsLong() - RECHECK_INTERVAL_NS;
    this.answeredNs = queriedNs;
  }

  /**
   * Finds the endpoint of an executor; empty when it has none or the directory does not answer in
   * time. Does not block.
   *
   * @return already complete when the answer is known; else completed on the control thread, which
   *     must not be blocked, and never exceptionally
   */
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    Optional<Endpoint> endpoint = known.get(executorId);
    if (endpoint == null && !hasEnded(executorId)) {
      return query(executorId);
    }
    if (endpoint == null || endpoint.isEmpty()) {
      recheck();
    }
    return CompletableFuture.completedFuture(endpoint == null ? Optional.empty() : endpoint);
  }

  /**
   * The same, after the driver is asked once more. While the driver does not answer, nobody waits
   * for it: what is known counts, and the driver is asked every few seconds.
   */
  public synchronized CompletableFuture<Optional<Endpoint>> query(String executorId) {
    if (closed) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    if (isSilent) {
      recheck();
      return CompletableFuture.completedFuture(known.getOrDefault(executorId, Optional.empty()));
    }
    CompletableFuture<Optional<Endpoint>> answer = waiting.get(executorId);
    if (answer == null) {
      answer =
          new CompletableFuture<Optional<Endpoint>>()
              .completeOnTimeout(Optional.empty(), timeout.toNanos(), TimeUnit.NANOSECONDS);
      waiting.put(executorId, answer);
      queryOnce();
    }
    return answer;
  }

  /** Call with the lock. */
  private void queryOnce() {
    if (!queries) {
      queries = true;
      queriedNs = nowNs.getAsLong();
      control.execute(this::refresh);
    }
  }

  /**
   * Called when an endpoint does not answer: queries the directory for changes, at most every few
   * seconds.
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
      take(driver.ask(new ArrayList<>(List.of(DirectoryService.CHANGES, version))));
      asked.keySet().stream().filter(id -> !known.containsKey(id)).forEach(this::addEnded);
      answeredNs = begunNs;
      isSilent = false;
    } catch (Exception | LinkageError e) {
      LOG.debug("Driver's RDMA directory did not answer", e);
      isSilent = true;
    }
    asked.forEach((id, waits) -> waits.complete(known.getOrDefault(id, Optional.empty())));
  }

  private synchronized Map<String, CompletableFuture<Optional<Endpoint>>> takeWaiting() {
    Map<String, CompletableFuture<Optional<Endpoint>>> taken = waiting;
    waiting = new HashMap<>();
    queries = false;
    return taken;
  }

  private void take(Object answer) {
    List<?> changes = RecordCodec.list(answer, 4);
    if (RecordCodec.as(Boolean.class, changes.get(1))) {
      // The driver has forgotten which executors were removed since the last query.
      known.clear();
    }
    for (Object records : RecordCodec.as(List.class, changes.get(2))) {
      Records.split(RecordCodec.as(byte[].class, records), this::takeRecord);
    }
    for (Object gone : RecordCodec.as(List.class, changes.get(3))) {
      known.remove(RecordCodec.name(gone));
      addEnded(RecordCodec.name(gone));
    }
    version = RecordCodec.as(Long.class, changes.get(0));
  }

  private void takeRecord(byte[] encoded) {
    try {
      ExecutorRecord record = RecordCodec.decode(encoded);
      known.put(record.executorId(), record.endpoint());
      ended.remove(record.executorId());
    } catch (IllegalArgumentException e) {
      // Perhaps from a later version of this plug-in; other records are usable.
      LOG.debug("Ignoring an invalid record from the RDMA directory", e);
    }
  }

  private void addEnded(String executorId) {
    if (ended.size() >= DirectoryService.MAX_GONE) {
      // Those that are looked up are found again.
      ended.clear();
    }
    ended.add(executorId);
  }

  /** Whether the driver has said that an executor has ended, or that it knows none. */
  public boolean hasEnded(String executorId) {
    return ended.contains(executorId);
  }

  /** The time at which the last query that was answered began. */
  public long answeredNs() {
    return answeredNs;
  }

  /** The endpoints on a host of Spark. */
  public List<Endpoint> endpointsOn(String host) {
    return known.values().stream()
        .flatMap(Optional::stream)
        .filter(endpoint -> endpoint.host().equals(host))
        .toList();
  }

  /** Number of entries about other executors. */
  int size() {
    return known.size();
  }

  /** Answers all look-ups, also later ones, with an empty result. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    takeWaiting().values().forEach(answer -> answer.complete(Optional.empty()));
  }
}
