// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.standin;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.SparkEnv;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointCache;
import org.sparkrdma.shuffle.fetch.BlockManagerAddress;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.wire.Locate;

/**
 * Chooses where a reader fetches blocks when the external shuffle service keeps the map outputs of
 * executors that have ended: from the executor that wrote them, or after its end from its stand-in,
 * another one on its host. Safe for any thread; never waits.
 *
 * <p>The first read of a stage waits for one query of the directory, which all tasks of the
 * executor share, because the driver does not announce that an executor has ended. An executor
 * whose blocks fail is not used until the driver, asked a few seconds later, still knows it: most
 * have ended, and each attempt to connect would be another fault.
 */
public final class StandIns {
  /** Longer than the driver takes to notice the end of an executor, also on YARN. */
  static final long SUSPECT_NS = TimeUnit.SECONDS.toNanos(5);

  private static final long FORGET_NS = TimeUnit.MINUTES.toNanos(1);

  /** More than run at one time. */
  private static final int MAX_STAGES = 100;

  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

  private final EndpointCache endpoints;
  private final String self;
  private final LongSupplier nanoClock;

  /** The queries of stages, the latest ones; guarded by itself. */
  private final Map<Integer, CompletableFuture<?>> queries =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, CompletableFuture<?>> eldest) {
          return size() > MAX_STAGES;
        }
      };

  /** A stage whose query has ended. */
  private volatile int queriedStage = Integer.MIN_VALUE;

  /** Times of the last faults, by the incarnation of the executor. */
  private final Map<Long, Long> suspects = new ConcurrentHashMap<>();

  /**
   * @param self Spark's id of this executor
   * @param nanoClock that of the directory
   */
  StandIns(EndpointCache endpoints, String self, LongSupplier nanoClock) {
    this.endpoints = endpoints;
    this.self = self;
    this.nanoClock = nanoClock;
  }

  /** Those of an executor; null without the external shuffle service. */
  public static StandIns of(SparkEnv env, EndpointCache endpoints) {
    return env.blockManager().externalShuffleServiceEnabled()
        ? new StandIns(endpoints, env.executorId(), System::nanoTime)
        : null;
  }

  /**
   * Finds where to fetch blocks; empty for TCP.
   *
   * @param peer that has written them
   * @param stage of the task that reads
   * @return as that of {@link EndpointCache#find}
   */
  public CompletableFuture<Optional<Endpoint>> find(BlockManagerAddress peer, int stage) {
    CompletableFuture<?> query = query(peer.executorId(), stage);
    return query.isDone() ? findNow(peer) : query.thenCompose(answered -> findNow(peer));
  }

  private CompletableFuture<?> query(String executorId, int stage) {
    if (stage == queriedStage) {
      return DONE;
    }
    synchronized (queries) {
      CompletableFuture<?> query =
          queries.computeIfAbsent(stage, first -> endpoints.queries().query(executorId));
      if (query.isDone()) {
        queriedStage = stage;
      }
      return query;
    }
  }

  private CompletableFuture<Optional<Endpoint>> findNow(BlockManagerAddress peer) {
    if (endpoints.hasEnded(peer.executorId())) {
      return CompletableFuture.completedFuture(standIn(peer));
    }
    return endpoints.find(peer.executorId()).thenApply(found -> usable(found, peer));
  }

  private Optional<Endpoint> usable(Optional<Endpoint> found, BlockManagerAddress peer) {
    boolean isUsable =
        found.isPresent() ? !isSuspect(found.get()) : !endpoints.hasEnded(peer.executorId());
    return isUsable ? found : standIn(peer);
  }

  private Optional<Endpoint> standIn(BlockManagerAddress peer) {
    Optional<Endpoint> chosen =
        Locate.owner(peer.executorId()) == Locate.OWN
            ? Optional.empty()
            : choose(
                peer.executorId(),
                self,
                endpoints.endpointsOn(peer.host()).stream()
                    .filter(one -> !isSuspect(one))
                    .toList());
    if (chosen.isEmpty()) {
      // Another executor may have started there.
      endpoints.queries().recheck();
    }
    return chosen;
  }

  /**
   * The stand-in of an executor among those on its host: the same one for all readers but itself,
   * and for most executors still the same when others start and end.
   */
  static Optional<Endpoint> choose(String ended, String self, Collection<Endpoint> onHost) {
    return onHost.stream()
        .filter(one -> !one.executorId().equals(self) && !one.executorId().equals(ended))
        .max(
            Comparator.<Endpoint>comparingInt(one -> weight(ended, one.executorId()))
                .thenComparing(Endpoint::executorId));
  }

  /** Mixes all bits, as the last step of MurmurHash3. */
  private static int weight(String ended, String candidate) {
    int hash = 31 * ended.hashCode() + candidate.hashCode();
    hash = (hash ^ (hash >>> 16)) * 0x85ebca6b;
    hash = (hash ^ (hash >>> 13)) * 0xc2b2ae35;
    return hash ^ (hash >>> 16);
  }

  private boolean isSuspect(Endpoint endpoint) {
    Long sinceNs = suspects.isEmpty() ? null : suspects.get(endpoint.incarnation());
    if (sinceNs == null) {
      return false;
    }
    if (endpoints.queries().answeredNs() - sinceNs >= SUSPECT_NS) {
      suspects.remove(endpoint.incarnation(), sinceNs);
      return false;
    }
    if (nanoClock.getAsLong() - sinceNs >= SUSPECT_NS) {
      var unused = endpoints.queries().query(endpoint.executorId());
    }
    return true;
  }

  /** Blocks of a request could not be fetched from its endpoint: perhaps that has ended. */
  public void onFault(FetchRequest request) {
    onFault(request.endpoint());
    endpoints.queries().recheck();
  }

  void onFault(Endpoint from) {
    long nowNs = nanoClock.getAsLong();
    suspects.values().removeIf(sinceNs -> nowNs - sinceNs >= FORGET_NS);
    suspects.put(from.incarnation(), nowNs);
  }
}
