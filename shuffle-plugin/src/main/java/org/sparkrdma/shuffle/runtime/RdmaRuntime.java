// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.broadcast.Broadcasts;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.EndpointCache;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.UnusableChecksums;
import org.sparkrdma.shuffle.figures.FigureSender;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.read.RdmaReads.Way;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.standin.StandInOutputs;
import org.sparkrdma.shuffle.standin.StandIns;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.Verbs;

/**
 * Owns everything that one executor runs for RDMA. When its device is lost, all of it is closed,
 * the endpoint is withdrawn, and RDMA is started again after a second, later after up to a minute
 * ({@link StartLoop}).
 *
 * <p>Starts, checks and closes run on the control thread, so that neither a task nor Spark's
 * dispatcher waits. Owned by {@code ExecutorSide}, which closes it. Safe for any thread.
 *
 * <p>When the JVM ends by a signal, tasks continue while the shutdown hooks run. Then nothing is
 * closed: new requests go to Spark's own client, open requests end normally, and registered memory
 * is left to the system. The hook takes no lock and waits for no thread: the thread that ends the
 * JVM after a fatal Error holds its locks until the hooks have ended.
 */
public final class RdmaRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaRuntime.class);

  /** Maximum wait of the first tasks until this executor is in the directory. */
  private static final Duration FIRST_START_LIMIT = Duration.ofSeconds(5);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);
  private static final Duration FIRST_RESTART = Duration.ofSeconds(1);
  private static final long CHECK_INTERVAL_MS = 1_000;

  private final String executorId;
  private final ShuffleCounters counters;
  private final Limits limits;
  private final RdmaStart start;
  private final StartLoop starts;
  private final DirectoryClient directory;
  private final FigureSender figures;
  private final ControlThread control;
  private final FallbackThreads tcp;
  private final RdmaReads reads;
  private final MissingLinks missing;
  private final SharedStatus status;
  private final Thread shutdownHook = new Thread(this::drain, "rdma-runtime-shutdown");

  /** Pieces of broadcast variables. */
  private Broadcasts broadcasts = Broadcasts.NONE;

  /**
   * Waits of a runtime.
   *
   * @param firstStart time after which no task waits for the first start
   * @param close maximum wait of a close; the rest is left to the system
   * @param firstRestart wait before the first start after the loss of the device
   */
  record Limits(Duration firstStart, Duration close, Duration firstRestart) {}

  /**
   * Creates a runtime that is not started.
   *
   * @param env of this executor
   * @param resolver finds map outputs
   * @param warnings reasons from the settings why RDMA must not be used; empty when it may be used
   * @param missing turns this off when a method or field of Spark is missing
   */
  public static RdmaRuntime of(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      ShuffleCounters counters,
      List<String> warnings,
      MissingLinks missing) {
    ControlThread control = new ControlThread();
    DirectoryClient directory =
        new DirectoryClient(env, settings.lookupTimeout(), settings.lookupWait(), control);
    EndpointCache endpoints = directory.endpoints();
    StandIns standIns = StandIns.of(env, endpoints);
    FallbackThreads tcp =
        new FallbackThreads(
            standIns == null ? request -> endpoints.queries().recheck() : standIns::onFault);
    RdmaStart start =
        new RdmaStart(
            env,
            settings,
            Verbs::choose,
            RdmaStart.transports(
                env,
                resolver,
                settings,
                counters,
                missing,
                StandInOutputs.addedTo(
                    env, work -> tcp.tryRun(StandInOutputs.class.getName(), work))),
            warnings);
    RdmaRuntime created =
        new RdmaRuntime(
            env,
            env.blockManager().blockStoreClient(),
            directory,
            tcp,
            standIns == null ? (peer, stage) -> endpoints.find(peer.executorId()) : standIns::find,
            counters,
            start,
            new Limits(FIRST_START_LIMIT, CLOSE_LIMIT, FIRST_RESTART),
            control,
            missing);
    created.broadcasts =
        Broadcasts.onExecutor(
            env, settings, counters, created.reads::transport, created.directory::find);
    return created;
  }

  /**
   * @param spark Spark's own client
   * @param directory calls the driver on the control thread; closed by the runtime
   * @param tcp not started; closed by the runtime
   * @param control not started; closed by the runtime
   * @param missing turns this off when a method or field of Spark is missing
   */
  RdmaRuntime(
      SparkEnv env,
      BlockStoreClient spark,
      DirectoryClient directory,
      FallbackThreads tcp,
      RdmaReads.Endpoints endpoints,
      ShuffleCounters counters,
      RdmaStart start,
      Limits limits,
      ControlThread control,
      MissingLinks missing) {
    this.executorId = env.executorId();
    this.counters = counters;
    this.limits = limits;
    this.status = new SharedStatus(limits.firstStart());
    this.start = start;
    this.directory = directory;
    this.figures =
        new FigureSender(values -> directory.report(executorId, values), System::nanoTime, control);
    this.control = control;
    this.tcp = tcp;
    FetchContext context =
        new FetchContext(
            spark,
            tcp,
            counters,
            start.verifies(),
            (Integer) env.conf().get(package$.MODULE$.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            new UnusableChecksums(),
            new FallbackLog(),
            missing);
    this.reads = new RdmaReads(context, endpoints, figures::reportSoon);
    this.missing = missing;
    this.starts =
        new StartLoop(
            executorId,
            start,
            status,
            reads,
            directory,
            figures,
            tcp,
            missing,
            control,
            limits.firstRestart());
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
    try {
      tcp.start();
      control.start();
    } catch (ThreadShortageException e) {
      status.change(RuntimeStatus.down(State.OFF, List.of(e.getMessage())));
      LOG.warn("RDMA is not used in this executor, its shuffle reads use TCP: {}", e.getMessage());
      // Spark needs threads, too.
      tcp.close();
      control.shutdownNow();
      status.publish();
    }
    missing.setEnd(
        reason -> {
          reads.use(Way.SPARKS);
          control.execute(() -> starts.turnOffForGood(reason));
        });
    if (control.isRunning()) {
      // Beside the start, which waits for it.
      tcp.tryRun(MissingLinks.class.getName(), missing::check);
      control.execute(starts::tryStart);
      var unused =
          control.scheduleWithFixedDelay(
              starts::check, CHECK_INTERVAL_MS, CHECK_INTERVAL_MS, TimeUnit.MILLISECONDS);
      figures.start(
          () -> RuntimeFigures.of(status.get(), counters),
          counters.stages()::taken,
          reads::areOpen);
    }
  }

  /** The present state. */
  State state() {
    return status.get().state();
  }

  /** Whether RDMA is up. */
  public boolean mayFetch() {
    return reads.is(Way.RDMA);
  }

  /** Account of pinned memory; empty while RDMA is not up. */
  public Optional<PinnedBudget> pinned() {
    RuntimeStatus now = status.get();
    return now.is(State.UP) ? Optional.of(now.open().budget()) : Optional.empty();
  }

  /** How tasks of this executor read. */
  public RdmaReads reads() {
    return reads;
  }

  /**
   * Waits until peers can find this executor or RDMA is off here, but only in the first seconds of
   * the executor's life, so that only its first tasks wait. A start that takes longer may still
   * succeed, and later tasks use it. The look-up of what Spark lacks is over, too: else Spark may
   * call a method that it has renamed at the end of the task.
   *
   * @return how the task reads
   */
  public RdmaReads awaitPublished() {
    status.awaitPublished();
    missing.check();
    return reads;
  }

  /**
   * Waits until RDMA is up. Returns while the executor ends: its tasks read with Spark's own client
   * then.
   *
   * @throws IllegalStateException naming every reason why RDMA is not up, when it is off or still
   *     starting after that time
   */
  public void require(Duration atMost) {
    status.require(atMost);
  }

  /**
   * Waits while the first start is running.
   *
   * @return why RDMA is not up; when it is, why it does not use other engines
   */
  public List<String> awaitStart(Duration atMost) throws InterruptedException {
    RuntimeStatus now = status.await(atMost, EnumSet.of(State.STARTING));
    return now.is(State.UP) ? start.reasons() : List.of(now.reasonText());
  }

  /** Sends findings of this executor to the driver; returns at once. */
  public void send(ExecutorFindings findings) {
    directory.send(executorId, findings);
  }

  /** Deregisters the files of a shuffle that Spark has removed. Returns at once. */
  public void unregisterShuffle(int shuffleId) {
    RuntimeStatus now = status.get();
    if (now.is(State.UP)) {
      now.open().transport().unregisterShuffle(shuffleId);
    }
  }

  /**
   * From now on requests of tasks go to Spark's own client on the task's thread, and no new reader
   * uses RDMA. Closes nothing and returns at once.
   */
  void drain() {
    reads.use(Way.DRAINING);
    Optional<PinnedBudget> pinned = pinned();
    if (status.stop()) {
      Map<String, Long> used = counters.snapshot();
      used.values().removeAll(List.of(0L));
      LOG.info(
          "Shuffle of this executor: {} highestPinnedBytes={}",
          used,
          pinned.isPresent() ? pinned.get().highestBytes() : 0);
      // A Worker ends executors by a signal, which may come before the close.
      figures.reportNow();
    }
    status.publish();
  }

  /**
   * Drains, ends a start that is still running, and closes what is open ({@link OpenRdma#close} has
   * the order), in bounded time; a second close does nothing. While the JVM ends it only drains.
   */
  @Override
  public void close() {
    drain();
    broadcasts.close();
    if (!removeShutdownHook()) {
      LOG.debug("JVM is shutting down; the kernel releases registered memory");
      return;
    }
    if (control.isRunning()) {
      closeOnControlThread();
    }
    tcp.close();
  }

  private void closeOnControlThread() {
    if (status.get().open() == null) {
      // A start that is still running closes its own resources.
      control.interrupt();
    }
    figures.close();
    directory.close();
    Future<?> closing = control.submit(starts::closeOpen);
    try {
      closing.get(limits.close().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      LOG.warn("RDMA did not close", e);
    } catch (TimeoutException e) {
      LOG.warn(
          "RDMA did not close within {} ms; registered memory is left to the system",
          limits.close().toMillis());
    }
    control.shutdownNow();
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
