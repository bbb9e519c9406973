/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory's executor side: publishes this executor and finds others.
 *
 * <p>One thread asks the driver; each answer brings everything that is new, so that a wave of
 * look-ups costs one question. A miss is remembered for a second. Owned by the runtime, which
 * closes it; safe for any thread.
 */
public final class DirectoryClient implements EndpointLookup, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(DirectoryClient.class);
  private static final long MISS_REMEMBERED_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long FIRST_RETRY_MS = 50;
  private static final long LAST_RETRY_MS = 5_000;

  private final DriverCall driver;
  private final Duration timeout;
  private final LongSupplier nowNs;
  private final ScheduledThreadPoolExecutor asker;

  private final Map<String, Endpoint> known = new ConcurrentHashMap<>();
  private final Set<String> gone = ConcurrentHashMap.newKeySet();
  private final Map<String, Long> missedNs = new ConcurrentHashMap<>();

  private Map<String, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();
  private boolean closed;

  /** Touched by the asking thread only. */
  private long version;

  /** For this executor. */
  public DirectoryClient(SparkEnv env, Duration timeout) {
    this(new RpcDriverCall(env.conf(), env.rpcEnv(), timeout), timeout, System::nanoTime);
  }

  DirectoryClient(DriverCall driver, Duration timeout, LongSupplier nowNs) {
    this.driver = driver;
    this.timeout = timeout;
    this.nowNs = nowNs;
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
   * Publishes an endpoint, trying again until it succeeds or this is closed.
   *
   * @return completes with whether the driver took it; not when this is closed before
   */
  public CompletableFuture<Boolean> publish(Endpoint endpoint) {
    CompletableFuture<Boolean> taken = new CompletableFuture<>();
    later(() -> tryToPublish(endpoint, taken, FIRST_RETRY_MS), 0);
    return taken;
  }

  private void tryToPublish(Endpoint endpoint, CompletableFuture<Boolean> taken, long retryMs) {
    try {
      Object answer =
          driver.ask(
              new ArrayList<>(List.of(DirectoryService.PUBLISH, EndpointCodec.encode(endpoint))));
      taken.complete(EndpointCodec.as(Boolean.class, answer));
    } catch (Exception e) {
      log.debug("the driver did not take the endpoint, will try again: inMs={}", retryMs, e);
      later(() -> tryToPublish(endpoint, taken, Math.min(2 * retryMs, LAST_RETRY_MS)), retryMs);
    }
  }

  @Override
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    Endpoint endpoint = known.get(executorId);
    if (endpoint != null || missedLately(executorId)) {
      return CompletableFuture.completedFuture(Optional.ofNullable(endpoint));
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
      later(this::refresh, 0);
    }
    return answer;
  }

  private boolean missedLately(String executorId) {
    Long missed = missedNs.get(executorId);
    return gone.contains(executorId)
        || (missed != null && nowNs.getAsLong() - missed < MISS_REMEMBERED_NS);
  }

  /** Asks what is new and answers everybody who waited when it began. */
  private void refresh() {
    Map<String, CompletableFuture<Optional<Endpoint>>> asked;
    synchronized (this) {
      asked = waiting;
      waiting = new HashMap<>();
    }
    try {
      take(driver.ask(new ArrayList<>(List.of(DirectoryService.CHANGES, version))));
    } catch (Exception e) {
      log.debug("the driver's directory did not answer", e);
    }
    asked.forEach(
        (executorId, answer) -> {
          Endpoint endpoint = known.get(executorId);
          if (endpoint == null) {
            missedNs.put(executorId, nowNs.getAsLong());
          } else {
            missedNs.remove(executorId);
          }
          answer.complete(Optional.ofNullable(endpoint));
        });
  }

  private void take(Object answer) {
    List<?> changes = EndpointCodec.list(answer, 3);
    for (Object encoded : EndpointCodec.as(List.class, changes.get(1))) {
      Endpoint endpoint = EndpointCodec.decode(encoded);
      known.put(endpoint.executorId(), endpoint);
    }
    for (Object executorId : EndpointCodec.as(List.class, changes.get(2))) {
      known.remove(EndpointCodec.name(executorId));
      missedNs.remove(EndpointCodec.name(executorId));
      gone.add(EndpointCodec.name(executorId));
    }
    version = EndpointCodec.as(Long.class, changes.get(0));
  }

  private void later(Runnable task, long delayMs) {
    try {
      var unused = asker.schedule(task, delayMs, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("the directory is closed");
    }
  }

  /** Answers everybody who waits with nothing; a second close does nothing. */
  @Override
  public void close() {
    Map<String, CompletableFuture<Optional<Endpoint>>> left;
    synchronized (this) {
      closed = true;
      left = waiting;
      waiting = new HashMap<>();
    }
    asker.shutdownNow();
    left.values().forEach(answer -> answer.complete(Optional.empty()));
  }
}
