// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.PluginLoader;

/**
 * The executor's side of the directory: publishes this executor, finds others ({@link
 * EndpointCache}), and sends figures and findings.
 *
 * <p>All calls of the driver run on the executor's control thread, which the runtime owns. The
 * runtime also closes this. Safe for any thread, but for methods that say otherwise.
 */
public final class DirectoryClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryClient.class);

  static final long FIRST_RETRY_MS = 50;
  static final long LAST_RETRY_MS = 5_000;

  /** Time over which the first queries of executors are spread that start at once. */
  static final int FIRST_QUERIES_MS = 1_000;

  private static final String NO_ENDPOINT = "RpcEndpointNotFoundException";

  private final DriverCall driver;
  private final ScheduledExecutorService control;
  private final DirectoryQueries queries;
  private final SecureRandom random = new SecureRandom();
  private final long publisher = random.nextLong();

  /** The last record of this executor; earlier ones are not tried again. */
  private volatile ExecutorRecord latest;

  // Confined to the control thread.

  private long lastEpoch;

  /** Whether the driver has no directory, as far as the last try to publish knows. */
  private boolean absent;

  /**
   * Creates the client of this executor.
   *
   * @param timeout of a call of the driver
   * @param wait longest one of a look-up
   */
  public DirectoryClient(SparkEnv env, Duration timeout, Duration wait, ControlThread control) {
    this(new RpcDriverCall(env.conf(), env.rpcEnv(), timeout), wait, System::nanoTime, control);
  }

  DirectoryClient(
      DriverCall driver, Duration wait, LongSupplier nowNs, ScheduledExecutorService control) {
    this.driver = driver;
    this.control = control;
    // A look-up of a task has a time-out.
    PluginLoader.startTimer();
    Executor afterWait =
        CompletableFuture.delayedExecutor(wait.toNanos(), TimeUnit.NANOSECONDS, Runnable::run);
    this.queries = new DirectoryQueries(driver, wait, nowNs, control, afterWait);
  }

  /**
   * Publishes an endpoint. Retries until the driver answers, a later record is published, or the
   * thread ends. Control thread; the first try is over when this returns.
   *
   * @return completes with whether the driver took it; not when the thread ends before
   */
  public CompletableFuture<Boolean> publish(Endpoint endpoint) {
    return publish(ExecutorRecord.available(endpoint, publisher, ++lastEpoch));
  }

  /**
   * Publishes that this executor does not use RDMA, or not any more; as {@link #publish(Endpoint)}.
   * The driver refuses a late endpoint that was published before.
   *
   * @param reasons for the driver's log
   */
  public CompletableFuture<Boolean> withdraw(String executorId, List<String> reasons) {
    return publish(ExecutorRecord.unavailable(executorId, reasons, publisher, ++lastEpoch));
  }

  private CompletableFuture<Boolean> publish(ExecutorRecord record) {
    latest = record;
    CompletableFuture<Boolean> taken = new CompletableFuture<>();
    tryPublish(record, taken, FIRST_RETRY_MS);
    return taken;
  }

  private void tryPublish(ExecutorRecord record, CompletableFuture<Boolean> taken, long retryMs) {
    if (record.epoch() != latest.epoch()) {
      taken.complete(false);
      return;
    }
    try {
      Object answer = ask(DirectoryService.PUBLISH, RecordCodec.encode(record));
      absent = false;
      taken.complete(RecordCodec.as(Boolean.class, answer));
    } catch (Exception | LinkageError e) {
      // Private in Spark, and wrapped.
      absent = e.getCause() != null && e.getCause().getClass().getName().endsWith(NO_ENDPOINT);
      LOG.debug("Driver did not accept the RDMA endpoint; retrying in {} ms", retryMs, e);
      long nextMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      schedule(() -> tryPublish(record, taken, nextMs), retryMs);
    }
  }

  /** Asks for the other executors within a second, before the first look-up. Returns at once. */
  public void begin() {
    schedule(queries::begin, random.nextInt(FIRST_QUERIES_MS));
  }

  /** Whether the driver has no directory; control thread, after {@link #publish(Endpoint)}. */
  public boolean isAbsent() {
    return absent;
  }

  /**
   * Asks the driver to take figures of this executor; control thread.
   *
   * @param figures by their labels
   * @return whether it did
   */
  public boolean report(String executorId, Map<String, Object> figures) {
    boolean taken = isTaken(new ExecutorReport(executorId, figures));
    if (!taken) {
      // RDMA may have ended on the driver.
      queries.recheck();
    }
    return taken;
  }

  /**
   * Sends findings of an executor to the driver once; retries for about six seconds. Returns at
   * once.
   */
  public void send(String executorId, ExecutorFindings findings) {
    ExecutorReport report = new ExecutorReport(executorId, findings.values());
    schedule(() -> trySend(report, FIRST_RETRY_MS), 0);
  }

  private void trySend(ExecutorReport report, long retryMs) {
    if (!isTaken(report) && retryMs <= LAST_RETRY_MS) {
      schedule(() -> trySend(report, 2 * retryMs), retryMs);
    }
  }

  private boolean isTaken(ExecutorReport report) {
    try {
      return Boolean.TRUE.equals(ask(DirectoryService.REPORT, report.encode()));
    } catch (Exception | LinkageError e) {
      LOG.debug("Driver did not accept a report of this executor", e);
      return false;
    }
  }

  private Object ask(String kind, Object content) throws Exception {
    return driver.ask(new ArrayList<>(List.of(kind, content)));
  }

  /** Same as {@link EndpointCache#find}. */
  public CompletableFuture<Optional<Endpoint>> find(String executorId) {
    return endpoints().find(executorId);
  }

  /** The endpoints of others. */
  public EndpointCache endpoints() {
    return queries.cache();
  }

  private void schedule(Runnable task, long delayMs) {
    var unused = control.schedule(task, delayMs, TimeUnit.MILLISECONDS);
  }

  /** Answers all look-ups, also later ones, with an empty result. A second close does nothing. */
  @Override
  public void close() {
    queries.close();
  }
}
