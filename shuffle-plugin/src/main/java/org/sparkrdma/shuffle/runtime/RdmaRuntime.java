// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import org.sparkrdma.shuffle.read.TcpFallback;
import org.sparkrdma.shuffle.runtime.RuntimeLifecycle.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ThreadEnd;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.Verbs;

/**
 * Owner of everything that one executor runs for RDMA, and of its resources. Its states and their
 * transitions are {@link RuntimeLifecycle}, its starts {@link StartLoop}.
 *
 * <p>One thread starts RDMA, so that neither a task nor Spark's dispatcher waits. Then it waits for
 * the loss of the device, after which it closes everything and starts RDMA again. It exists from
 * the start on, because at the time of a loss the system may refuse another thread. Owned by the
 * {@code RdmaShuffleManager}, which closes it. Safe for any thread.
 *
 * <p>When the JVM ends by a signal, tasks continue while the shutdown hooks run. Then nothing is
 * closed: new requests go to Spark's own client, open requests end normally, and registered memory
 * is left to the system. Spark would count a refused block as a failure of the executor that serves
 * it, which is healthy.
 */
public final class RdmaRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaRuntime.class);

  /** Maximum wait of a close for a running start. */
  private static final Duration START_END = Duration.ofSeconds(5);

  /** Maximum number of peers with a TCP connect in progress. */
  private static final int TCP_THREADS = 64;

  private final ShuffleCounters counters;
  private final RuntimeLifecycle lifecycle = new RuntimeLifecycle();
  private final RuntimeLimits limits;
  private final RuntimeStart start;
  private final StartLoop starts;
  private final RuntimeFigures figures;
  private final DirectoryClient directory;
  private final RequiredMode requiredMode;
  private final TcpFallback tcp;
  private final RdmaBlockClient client;
  private final PublishedEndpoint published;
  private final ShuffleRemovals removals;
  private final RuntimeThreads threads;
  private final Thread thread;

  /**
   * Whether the system has refused the runtime's thread, and the driver may not have the reasons.
   */
  private volatile boolean withoutThread;

  private final Thread shutdownHook = new Thread(this::drain, "rdma-runtime-shutdown");

  /**
   * Creates a runtime that is not started.
   *
   * @param env of this executor
   * @param resolver finds map outputs
   * @param warnings reasons from the settings why RDMA must not be used; empty when it may be used
   */
  public static RdmaRuntime of(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      ShuffleCounters counters,
      List<String> warnings) {
    RuntimeStart start =
        new RuntimeStart(
            env,
            settings,
            Verbs::choose,
            RunningParts.rdmaTransports(env, resolver, settings, counters),
            warnings);
    return new RdmaRuntime(
        env,
        env.blockManager().blockStoreClient(),
        new DirectoryClient(env, settings.lookupTimeout()),
        counters,
        start,
        RuntimeLimits.of(settings),
        Thread::new);
  }

  /**
   * @param spark Spark's own client
   * @param directory closed by the runtime
   * @param threads creates the threads of the runtime, which names them
   */
  RdmaRuntime(
      SparkEnv env,
      BlockStoreClient spark,
      DirectoryClient directory,
      ShuffleCounters counters,
      RuntimeStart start,
      RuntimeLimits limits,
      ThreadFactory threads) {
    this.counters = counters;
    this.limits = limits;
    this.start = start;
    this.directory = directory;
    this.figures = new RuntimeFigures(directory, env.executorId(), lifecycle, counters);
    this.published = new PublishedEndpoint(directory, env.executorId());
    this.requiredMode =
        new RequiredMode(lifecycle, () -> directory.exclude(env.executorId()), limits.exclusion());
    this.removals =
        new ShuffleRemovals(
            shuffleId ->
                lifecycle
                    .parts()
                    .ifPresent(up -> up.transport().unregisterShuffle().accept(shuffleId)));
    CompletableFuture<BlockTransport> transport = new CompletableFuture<>();
    this.starts =
        new StartLoop(
            start,
            new ProfileResources(() -> directory.profile(env.executorId())),
            lifecycle,
            new RestartBackoff(limits.firstRestart()),
            published,
            removals,
            transport);
    this.tcp = new TcpFallback(spark, counters, TCP_THREADS);
    this.client = new RdmaBlockClient(spark, transport, directory, tcp, counters);
    this.threads = new RuntimeThreads(threads);
    this.thread = this.threads.create("rdma-runtime", starts::run);
  }

  /** Starts RDMA; called once. In a JVM that is shutting down it closes instead. */
  public void start() {
    try {
      Runtime.getRuntime().addShutdownHook(shutdownHook);
    } catch (IllegalStateException e) {
      LOG.debug("RDMA not started: the JVM is shutting down", e);
      drain();
      return;
    }
    starts.limitFirstStart(limits.firstStart(), thread);
    try {
      tcp.start();
      ThreadShortageException.start(thread);
    } catch (Throwable e) {
      // An Error too, without memory: Spark would replace this executor.
      String reason = e instanceof ThreadShortageException ? e.getMessage() : e.toString();
      withoutThread = true;
      lifecycle.endAttempt(null, List.of(reason));
      starts.stayOff();
    }
    figures.startReports();
  }

  /** The present state. */
  State state() {
    return lifecycle.state();
  }

  /** Whether readers should use {@link #client}; it may be starting, if that does not hang. */
  public boolean mayFetch() {
    return lifecycle.mayFetch() && !start.forbidden();
  }

  /**
   * A task begins to read; the driver gets this executor's figures soon after all have ended. In an
   * executor without the runtime's thread, which would do it, this hands the reasons over to the
   * directory again, until the driver has them.
   */
  public void beginRead(TaskContext task) {
    figures.beginRead(task);
    if (withoutThread && published.retry()) {
      withoutThread = false;
    }
  }

  /** Account of pinned memory; empty while RDMA is not up. */
  public Optional<PinnedBudget> pinned() {
    return lifecycle.parts().map(RunningParts::budget);
  }

  /** Fetches for all readers of this executor. */
  public BlockStoreClient client() {
    return client;
  }

  /**
   * Waits until peers can find this executor or RDMA is off here, but only in the first seconds of
   * the executor's life, so that only its first tasks wait.
   */
  public void awaitPublished() {
    published.await();
  }

  /**
   * Waits until RDMA is up. When it is off, or still starting after that time, requests that the
   * driver gives this executor no more tasks. Returns while the executor ends: its tasks read with
   * Spark's own client then.
   *
   * @throws TaskKilledException when the driver does so; Spark runs the task elsewhere and does not
   *     count a failure
   * @throws IllegalStateException naming every reason why RDMA is not up
   */
  public void require(Duration atMost) {
    requiredMode.require(atMost);
  }

  /**
   * Waits while the first start is running.
   *
   * @return whether RDMA is up, and why not
   */
  public StartOutcome awaitStart(Duration atMost) throws InterruptedException {
    State state = lifecycle.awaitStart(atMost.toNanos());
    List<String> reasons = lifecycle.reasons();
    return new StartOutcome(
        state == State.UP,
        state == State.UP || !reasons.isEmpty()
            ? reasons
            : List.of("the start of RDMA is not over: state=" + state));
  }

  /** Sends findings of this executor to the driver; returns at once. */
  public void send(ExecutorFindings findings) {
    directory.send(findings);
  }

  /** Deregisters the files of a shuffle that Spark has removed. Never throws. */
  public void unregisterShuffle(int shuffleId) {
    removals.remove(shuffleId);
  }

  /**
   * From now on requests of tasks go to Spark's own client on the task's thread, and no new reader
   * uses RDMA. Closes nothing and returns at once.
   *
   * @return the state before
   */
  State drain() {
    starts.endWaits();
    client.drain();
    Optional<PinnedBudget> pinned = pinned();
    State before = lifecycle.stop();
    if (before != State.STOPPED) {
      LOG.info("Shuffle of this executor: {}", RuntimeSummary.of(counters, pinned));
    }
    starts.giveUp();
    return before;
  }

  /**
   * Drains, ends a start that is still running, and closes what is open, in bounded time; a second
   * close does nothing. While the JVM ends it only drains.
   */
  @Override
  public void close() {
    State before = drain();
    if (!removeShutdownHook()) {
      LOG.debug("JVM is shutting down; the kernel releases registered memory");
      return;
    }
    if (before == State.STARTING || before == State.RESTARTING) {
      thread.interrupt();
    }
    // A start that is still running closes its own resources.
    ThreadEnd.await(thread, START_END);
    directory.close();
    lifecycle.takeParts().ifPresent(open -> threads.closeInTime(open, limits.close()));
    tcp.close();
  }

  /** False when the JVM is ending. */
  private boolean removeShutdownHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(shutdownHook);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }
}
