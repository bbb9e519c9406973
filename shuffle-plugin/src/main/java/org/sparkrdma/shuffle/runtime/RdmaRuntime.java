// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.SparkEnv;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.broadcast.Broadcasts;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.directory.EndpointCache;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FirstFetch;
import org.sparkrdma.shuffle.fetch.UnusableChecksums;
import org.sparkrdma.shuffle.figures.FigureSender;
import org.sparkrdma.shuffle.links.MissingLinks;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.read.RdmaReads.Way;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.standin.StandInOutputs;
import org.sparkrdma.shuffle.standin.StandIns;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.Verbs;

/**
 * Owns everything that one executor runs for RDMA, and decides what follows when its device is
 * lost: all of it is closed, the endpoint is withdrawn, and RDMA is started again.
 *
 * <p>Starts, checks and closes run on the control thread, so that neither a task nor Spark's
 * dispatcher waits. Owned by the {@code RdmaShuffleManager}, which closes it. Safe for any thread.
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
  private static final long LAST_RESTART_MS = 60_000;

  /** Time after which RDMA is stable: the next loss is followed by a start soon. */
  private static final long STABLE_NS = TimeUnit.MINUTES.toNanos(1);

  private static final long CHECK_INTERVAL_MS = 1_000;
  private static final long TASK_POLL_MS = 10;

  /** Ends the WARN of a first start that fails. */
  private static final String RUN_DOCTOR =
      "First run the command doctor of the plug-in's jar on this host: it says what to do";

  private final String executorId;
  private final ShuffleCounters counters;
  private final Limits limits;
  private final RdmaStart start;
  private final DirectoryClient directory;
  private final FigureSender figures;
  private final ControlThread control;
  private final FallbackThreads tcp;
  private final RdmaReads reads;
  private final MissingLinks missing;
  private final AtomicReference<RuntimeStatus> status =
      new AtomicReference<>(RuntimeStatus.STARTING);

  private final CountDownLatch published = new CountDownLatch(1);
  private final long createdNs = System.nanoTime();
  private final Thread shutdownHook = new Thread(this::drain, "rdma-runtime-shutdown");

  /** Pieces of broadcast variables. */
  private Broadcasts broadcasts = Broadcasts.NONE;

  // Confined to the control thread.

  /** Number of starts. */
  private int starts;

  /** What has not closed: a start would open the device a second time. Else null. */
  private OpenRdma unclosed;

  private long restartMs;
  private long upSinceNs;

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
   * @param missing turns this off when a member of Spark is missing
   */
  public static RdmaRuntime of(
      SparkEnv env,
      IndexShuffleBlockResolver resolver,
      ShuffleSettings settings,
      ShuffleCounters counters,
      List<String> warnings,
      MissingLinks missing) {
    ControlThread control = new ControlThread();
    DirectoryClient directory = new DirectoryClient(env, settings.lookupTimeout(), control);
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
   * @param missing turns this off when a member of Spark is missing
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
    this.restartMs = limits.firstRestart().toMillis();
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
      change(RuntimeStatus.down(State.OFF, List.of(e.getMessage())));
      LOG.warn("RDMA is not used in this executor, its shuffle reads use TCP: {}", e.getMessage());
      // Spark needs threads, too.
      tcp.close();
      control.shutdownNow();
      published.countDown();
    }
    missing.setEnd(
        reason -> {
          reads.use(Way.SPARKS);
          control.execute(() -> turnOffForGood(reason));
        });
    if (control.isRunning()) {
      // Beside the start, which waits for it.
      tcp.tryRun(MissingLinks.class.getName(), missing::check);
      control.execute(this::tryStart);
      var unused =
          control.scheduleWithFixedDelay(
              this::check, CHECK_INTERVAL_MS, CHECK_INTERVAL_MS, TimeUnit.MILLISECONDS);
      figures.start(
          () -> RuntimeFigures.of(status.get(), counters),
          counters.stages()::taken,
          reads::areOpen);
    }
  }

  /** One start, after which RDMA is up or off, or another start follows. */
  private void tryStart() {
    if (status.get().is(State.STOPPED) || missing.any()) {
      return;
    }
    if (!closeLost()) {
      scheduleStart();
      return;
    }
    starts++;
    int number = starts;
    Optional<OpenRdma> started = start.run(reason -> control.execute(() -> onLost(number, reason)));
    missing.check();
    if (missing.any()) {
      unclosed = started.orElse(null);
      closeLost();
      return;
    }
    if (started.isEmpty()) {
      onFailedStart(start.reasons());
      return;
    }
    // Before the state, for which tasks wait.
    reads.useRdma(started.get().transport());
    if (change(RuntimeStatus.up(started.get()))) {
      announce(started.get());
    } else {
      started.get().close();
    }
  }

  private void announce(OpenRdma started) {
    LOG.info("RDMA is up: {}", started.description());
    upSinceNs = System.nanoTime();
    Endpoint self = started.transport().endpoint();
    var unused = directory.publish(self).thenAccept(taken -> published.countDown());
    if (directory.isAbsent()) {
      // No task waits for it.
      published.countDown();
    } else {
      directory.begin();
    }
    figures.reportSoon();
    tcp.tryRun(FirstFetch.class.getName(), () -> FirstFetch.begin(started.transport(), self));
  }

  private void onFailedStart(List<String> reasons) {
    RuntimeStatus before = status.get();
    if (before.is(State.STOPPED)) {
      return;
    }
    boolean again = before.is(State.RESTARTING) || start.mayStartLater();
    boolean isNew = before.is(State.STARTING) || !reasons.equals(before.reasons());
    if (isNew) {
      LOG.warn(
          "RDMA is not used in this executor{}: {}. {}",
          again ? " until it can be started" : ", its shuffle reads use TCP",
          String.join("; ", reasons),
          RUN_DOCTOR);
    }
    if (!change(RuntimeStatus.down(again ? State.RESTARTING : State.OFF, reasons))) {
      return;
    }
    published.countDown();
    if (isNew) {
      var unused = directory.withdraw(executorId, reasons);
    }
    figures.reportSoon();
    if (again) {
      scheduleStart();
    }
  }

  /**
   * The transport of a start cannot be used any more, as its agent reports. Open requests are
   * answered by TCP. Releasing everything lets the system remove the device.
   */
  private void onLost(int number, String reason) {
    RuntimeStatus before = status.get();
    if (number != starts || !before.is(State.UP)) {
      return;
    }
    reads.use(Way.TCP);
    if (!status.compareAndSet(before, RuntimeStatus.down(State.RESTARTING, List.of(reason)))) {
      return;
    }
    LOG.warn("RDMA is not used in this executor until it can be started: {}", reason);
    if (System.nanoTime() - upSinceNs > STABLE_NS) {
      restartMs = limits.firstRestart().toMillis();
    }
    withdraw(before, reason);
    scheduleStart();
  }

  /** A member of Spark is missing: RDMA is off as long as the executor lives. */
  private void turnOffForGood(String reason) {
    RuntimeStatus before = status.get();
    if (change(RuntimeStatus.down(State.OFF, List.of(reason)))) {
      published.countDown();
      withdraw(before, reason);
    }
  }

  /** Tells the driver, and closes what was up. */
  private void withdraw(RuntimeStatus before, String reason) {
    var unused = directory.withdraw(executorId, List.of(reason));
    figures.reportSoon();
    if (before.open() != null) {
      unclosed = before.open();
      closeLost();
    }
  }

  /**
   * Whether all that earlier starts have opened is closed; goes on with a close that has failed.
   */
  private boolean closeLost() {
    if (unclosed != null && unclosed.close()) {
      unclosed = null;
    }
    return unclosed == null;
  }

  private void scheduleStart() {
    var unused = control.schedule(this::tryStart, restartMs, TimeUnit.MILLISECONDS);
    restartMs = Math.min(2 * restartMs, LAST_RESTART_MS);
  }

  /** Changes the status unless the runtime is stopped; returns whether it did. */
  private boolean change(RuntimeStatus next) {
    return !status.getAndUpdate(now -> now.is(State.STOPPED) ? now : next).is(State.STOPPED);
  }

  /** Each second: looks for a transport that hangs, which it reports as a loss. */
  private void check() {
    RuntimeStatus now = status.get();
    if (now.is(State.UP)) {
      try {
        now.open().transport().check();
      } catch (RuntimeException e) {
        // The next check follows; an exception here would end them.
        LOG.warn("Check of the RDMA transport failed", e);
      }
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
    try {
      long leftNs = limits.firstStart().toNanos() - (System.nanoTime() - createdNs);
      if (!published.await(leftNs, TimeUnit.NANOSECONDS)
          && status.compareAndSet(
              RuntimeStatus.STARTING, RuntimeStatus.down(State.STARTING, List.of("it hangs")))) {
        LOG.warn(
            "The start of RDMA hangs; shuffle reads of this executor use TCP until it is over:"
                + " limitMs={}",
            limits.firstStart().toMillis());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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
    RuntimeStatus now;
    try {
      now = await(atMost, EnumSet.of(State.STARTING, State.RESTARTING));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while RDMA was starting", e);
    }
    if (!now.is(State.UP) && !now.is(State.STOPPED)) {
      throw new IllegalStateException(
          ShuffleSetting.MODE.key() + "=required and RDMA is not up: " + reasonText(now));
    }
  }

  /**
   * Waits while the first start is running.
   *
   * @return why RDMA is not up; when it is, why it does not use other engines
   */
  public List<String> awaitStart(Duration atMost) throws InterruptedException {
    RuntimeStatus now = await(atMost, EnumSet.of(State.STARTING));
    return now.is(State.UP) ? start.reasons() : List.of(reasonText(now));
  }

  private static String reasonText(RuntimeStatus now) {
    return now.reasons().isEmpty() ? "still starting" : String.join("; ", now.reasons());
  }

  /** Waits for the end of these states, without a lock; returns the status then. */
  private RuntimeStatus await(Duration atMost, Set<State> states) throws InterruptedException {
    long deadlineNs = System.nanoTime() + atMost.toNanos();
    RuntimeStatus now = status.get();
    while (states.contains(now.state()) && deadlineNs - System.nanoTime() > 0) {
      TimeUnit.MILLISECONDS.sleep(TASK_POLL_MS);
      now = status.get();
    }
    return now;
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
    if (!status.getAndUpdate(RuntimeStatus::stopped).is(State.STOPPED)) {
      Map<String, Long> used = counters.snapshot();
      used.values().removeAll(List.of(0L));
      LOG.info(
          "Shuffle of this executor: {} highestPinnedBytes={}",
          used,
          pinned.isPresent() ? pinned.get().highestBytes() : 0);
      // A Worker ends executors by a signal, which may come before the close.
      figures.reportNow();
    }
    published.countDown();
  }

  /**
   * Drains, ends a start that is still running, and closes what is open, in bounded time; a second
   * close does nothing. While the JVM ends it only drains.
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
    Future<?> closing = control.submit(this::closeOpen);
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

  private void closeOpen() {
    OpenRdma open = unclosed == null ? status.get().open() : unclosed;
    if (open != null) {
      open.close();
    }
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
