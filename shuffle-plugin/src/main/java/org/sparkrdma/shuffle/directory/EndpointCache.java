// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
final class EndpointCache implements EndpointLookup {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointCache.class);
  private static final long RECHECK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  /** Interval for executors without RDMA, whose device may come back. */
  private static final long WITHDRAWN_INTERVAL_NS = TimeUnit.SECONDS.toNanos(60);

  /** Time for which the driver is not queried again for an executor without a record. */
  private static final long MISS_NS = TimeUnit.SECONDS.toNanos(2);

  private static final int MAX_MISSES = 1_024;

  private final DriverCall driver;
  private final Duration timeout;
  private final LongSupplier nowNs;
  private final Executor control;

  /** Endpoints of all executors with a record; empty for those without RDMA. */
  private final Map<String, Optional<Endpoint>> known = new ConcurrentHashMap<>();

  /** Times of the queries that found no record. */
  private final Map<String, Long> misses = new Misses();

  private Map<String, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();
  private boolean queries;
  private boolean closed;
  private long recheckedNs;

  /** Confined to the control thread. */
  private long version;

  private static final class Misses extends LinkedHashMap<String, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
      return size() > MAX_MISSES;
    }
  }

  /**
   * @param timeout maximum wait of a look-up
   * @param control the control thread
   */
  EndpointCache(DriverCall driver, Duration timeout, LongSupplier nowNs, Executor control) {
    this.driver = driver;
    this.timeout = timeout;
    this.nowNs = nowNs;
    this.control = control;
    this.recheckedNs = nowNs.getAsLong() - WITHDRAWN_INTERVAL_NS;
  }

  @Override
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    Optional<Endpoint> endpoint = known.get(executorId);
    if (endpoint == null) {
      return query(executorId);
    }
    if (endpoint.isEmpty()) {
      recheckAfter(WITHDRAWN_INTERVAL_NS);
    }
    return CompletableFuture.completedFuture(endpoint);
  }

  private synchronized CompletableFuture<Optional<Endpoint>> query(String executorId) {
    Long missedNs = misses.get(executorId);
    if (closed || (missedNs != null && nowNs.getAsLong() - missedNs < MISS_NS)) {
      return CompletableFuture.completedFuture(Optional.empty());
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
      control.execute(this::refresh);
    }
  }

  @Override
  public void recheck() {
    recheckAfter(RECHECK_INTERVAL_NS);
  }

  /** Queries the driver when its last answer is older than this. */
  private synchronized void recheckAfter(long intervalNs) {
    long now = nowNs.getAsLong();
    if (!closed && now - recheckedNs >= intervalNs) {
      recheckedNs = now;
      queryOnce();
    }
  }

  /** Queries the changes and answers all look-ups that waited at its start. */
  private void refresh() {
    Map<String, CompletableFuture<Optional<Endpoint>>> asked = takeWaiting();
    try {
      take(driver.ask(new ArrayList<>(List.of(DirectoryService.CHANGES, version))));
    } catch (Exception e) {
      LOG.debug("Driver's RDMA directory did not answer", e);
    }
    asked.forEach(
        (executorId, answer) -> {
          Optional<Endpoint> endpoint = known.get(executorId);
          if (endpoint == null) {
            addMiss(executorId);
          }
          answer.complete(endpoint == null ? Optional.empty() : endpoint);
        });
  }

  private synchronized Map<String, CompletableFuture<Optional<Endpoint>>> takeWaiting() {
    Map<String, CompletableFuture<Optional<Endpoint>>> taken = waiting;
    waiting = new HashMap<>();
    queries = false;
    return taken;
  }

  private synchronized void addMiss(String executorId) {
    misses.put(executorId, nowNs.getAsLong());
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
      known.remove(RecordCodec.name(gone));
    }
    version = RecordCodec.as(Long.class, changes.get(0));
  }

  private void takeRecord(Object encoded) {
    try {
      ExecutorRecord record = RecordCodec.decode(encoded);
      known.put(record.executorId(), record.endpoint());
    } catch (IllegalArgumentException e) {
      // Perhaps from a later version of this plug-in; other records are usable.
      LOG.debug("Ignoring an invalid record from the RDMA directory", e);
    }
  }

  /** Number of entries about other executors. */
  synchronized int size() {
    return known.size() + misses.size();
  }

  /** Answers all look-ups, also later ones, with an empty result. */
  void close() {
    synchronized (this) {
      closed = true;
    }
    takeWaiting().values().forEach(answer -> answer.complete(Optional.empty()));
  }
}
