// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The endpoints of other executors as the driver last reported them; {@link DirectoryQueries} asks
 * it for more. The control thread writes; everything else is safe for any thread.
 */
public final class EndpointCache {
  private static final Logger LOG = LoggerFactory.getLogger(EndpointCache.class);

  private final DirectoryQueries queries;

  /** Executors that have a record; empty for those without RDMA. */
  private final Map<String, Optional<Endpoint>> known = new ConcurrentHashMap<>();

  /** The endpoints of these by the host of Spark and the executor. */
  private final Map<String, Map<String, Endpoint>> onHosts = new ConcurrentHashMap<>();

  /** Executors of which the driver has no record; those that it has said lately. */
  private final Set<String> ended = ConcurrentHashMap.newKeySet();

  EndpointCache(DirectoryQueries queries) {
    this.queries = queries;
  }

  /**
   * Finds the endpoint of an executor; empty when it has none or the directory does not answer in
   * time. Does not block.
   *
   * @return already complete when the answer is known; else as of {@link DirectoryQueries#query}
   */
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    Optional<Endpoint> endpoint = known.get(executorId);
    if (endpoint == null && !hasEnded(executorId)) {
      return queries.query(executorId);
    }
    if (endpoint == null || endpoint.isEmpty()) {
      queries.recheck();
    }
    return CompletableFuture.completedFuture(endpoint == null ? Optional.empty() : endpoint);
  }

  /** Asks the driver for more. */
  public DirectoryQueries queries() {
    return queries;
  }

  /** The endpoint of an executor as far as it is known. */
  Optional<Endpoint> now(String executorId) {
    return known.getOrDefault(executorId, Optional.empty());
  }

  /** Whether the driver has said that an executor has ended, or that it knows none. */
  public boolean hasEnded(String executorId) {
    return ended.contains(executorId);
  }

  /** The endpoints on a host of Spark. */
  public List<Endpoint> endpointsOn(String host) {
    return List.copyOf(onHosts.getOrDefault(host, Map.of()).values());
  }

  /** Number of entries about other executors. */
  int size() {
    return known.size();
  }

  /**
   * Takes an answer of the driver. Control thread.
   *
   * @return the version of the directory that it has brought
   */
  long take(Object answer) {
    List<?> changes = RecordCodec.list(answer, 4);
    if (RecordCodec.as(Boolean.class, changes.get(1))) {
      // The driver has forgotten which executors were removed since the last query.
      known.clear();
      onHosts.clear();
    }
    for (Object records : RecordCodec.as(List.class, changes.get(2))) {
      Records.split(RecordCodec.as(byte[].class, records), this::takeRecord);
    }
    for (Object gone : RecordCodec.as(List.class, changes.get(3))) {
      now(RecordCodec.name(gone)).ifPresent(this::removeFromHost);
      known.remove(RecordCodec.name(gone));
      addEnded(RecordCodec.name(gone));
    }
    return RecordCodec.as(Long.class, changes.get(0));
  }

  private void takeRecord(byte[] encoded) {
    try {
      ExecutorRecord record = RecordCodec.decode(encoded);
      now(record.executorId()).ifPresent(this::removeFromHost);
      known.put(record.executorId(), record.endpoint());
      record.endpoint().ifPresent(this::addToHost);
      ended.remove(record.executorId());
    } catch (IllegalArgumentException e) {
      // Perhaps from a later version of this plug-in; other records are usable.
      LOG.debug("Ignoring an invalid record from the RDMA directory", e);
    }
  }

  private void addToHost(Endpoint endpoint) {
    onHosts
        .computeIfAbsent(endpoint.host(), host -> new ConcurrentHashMap<>())
        .put(endpoint.executorId(), endpoint);
  }

  private void removeFromHost(Endpoint endpoint) {
    onHosts.computeIfPresent(
        endpoint.host(),
        (host, those) -> {
          those.remove(endpoint.executorId());
          return those.isEmpty() ? null : those;
        });
  }

  /** The driver was asked for an executor, and has answered. Control thread. */
  void onAsked(String executorId) {
    if (!known.containsKey(executorId)) {
      addEnded(executorId);
    }
  }

  private void addEnded(String executorId) {
    if (ended.size() >= DirectoryService.MAX_GONE) {
      // Those that are looked up are found again.
      ended.clear();
    }
    ended.add(executorId);
  }
}
