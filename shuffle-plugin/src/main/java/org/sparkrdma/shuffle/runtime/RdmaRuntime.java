// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.directory.ExecutorFindings;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.TcpFallback;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import org.sparkrdma.shuffle.runtime.RuntimeStatus.State;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.shuffle.thread.ControlThread;
import org.sparkrdma.shuffle.thread.ThreadShortageException;
import org.sparkrdma.verbs.Verbs;

/**
 * Owner of everything that one executor runs for RDMA: opens it, loses it with the device, and
 * opens it again.
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

  /** A start that takes shorter does not hang, however short the time-outs of blocks are. */
  private static final Duration MIN_FIRST_START = Duration.ofSeconds(5);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);
  private static final Duration FIRST_RESTART = Duration.ofSeconds(1);
  private static final long LAST_RESTART_MS = 60_000;

  /** Time after which RDMA is stable: the next loss is followed by a start soon. */
  private static final long STABLE_NS = TimeUnit.MINUTES.toNanos(1);

  private static final long CHECK_INTERVAL_MS = 1_000;

  /** Maximum wait of the first map tasks until this executor is in the directory. */
  private static final long PUBLISH_LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  private static final long TASK_POLL_MS = 10;

  /** Ends the WARN of a first start that fails. */
  private static final String RUN_DOCTOR =
      "First run the command doctor of the plug-in's jar on this host: it says what to do";

  private final String executorId;
  private final ShuffleCounters counters;
  private final Limits limits;
  private final RuntimeStart start;
  private final RuntimeFigures figures;
  private final DirectoryClient directory;
  private final ControlThread control;
  private final TcpFallback tcp;
  private final RdmaBlockClient client;
  private final AtomicReference<RuntimeStatus> status =
      new AtomicReference<>(RuntimeStatus.STARTING);

  /** Readers keep it while the device is lost and comes back. */
  private final CurrentTransport current = new CurrentTransport();

  private final CompletableFuture<BlockTransport> transport = new CompletableFuture<>();
  private final CountDownLatch published = new CountDownLatch(1);
  private final long createdNs = System.nanoTime();
  private final Thread shutdownHook = new Thread(this::drain, "rdma-runtime-shutdown");

  /** The loss of the transport of the last attempt; its reason is null before. */
  private volatile Attempt attempt = new Attempt();

  // Confined to the control thread.

  /** Parts that have not closed: a start would open the device a second time. Else null. */
  private RunningParts unclosed;

  private Map<String, Long> profile;

  /** Starts and losses since RDMA was last stable. */
  private int restarts;

  private long upSinceNs;

  /**
   * Waits of a runtime.
   *
   * @param firstStart time after which no request waits for the first start
   * @param close maximum wait of a close; the rest is left to the system
   * @param firstRestart wait before the first start after the loss of the device
   */
  record Limits(Duration firstStart, Duration close, Duration firstRestart) {
    static Limits of(ShuffleSettings settings) {
      Duration timeout = settings.lookupTimeout();
      return new Limits(
          timeout.compareTo(MIN_FIRST_START) > 0 ? timeout : MIN_FIRST_START,
          CLOSE_LIMIT,
          FIRST_RESTART);
    }
  }

  /** One start, and the loss of what it has started. */
  private static final class Attempt {
    private final AtomicReference<String> loss = new AtomicReference<>();
  }

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
    ControlThread control = new ControlThread();
    return new RdmaRuntime(
        env,
        env.blockManager().blockStoreClient(),
        new DirectoryClient(env, settings.lookupTimeout(), control),
        counters,
        start,
        Limits.of(settings),
        control);
  }

  /**
   * @param spark Spark's own client
   * @param directory calls the driver on the control thread; closed by the runtime
   * @param control not started; closed by the runtime
   */
  RdmaRuntime(
      SparkEnv env,
      BlockStoreClient spark,
      DirectoryClient directory,
      ShuffleCounters counters,
      RuntimeStart start,
      Limits limits,
      ControlThread control) {
    this.executorId = env.executorId();
    this.counters = counters;
    this.limits = limits;
    this.start = start;
    this.directory = directory;
    this.control = control;
    this.figures = new RuntimeFigures(directory, executorId, status::get, counters);
    this.tcp = new TcpFallback(directory::recheck);
    FetchContext context =
        new FetchContext(
            spark,
            tcp,
            counters,
            start.verifies(),
            (Integer) env.conf().get(package$.MODULE$.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            new FallbackLog());
    this.client = new RdmaBlockClient(context, transport, directory);
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
      stayOff(List.of(e.getMessage()));
      return;
    }
    transport.completeOnTimeout(current, limits.firstStart().toNanos(), TimeUnit.NANOSECONDS);
    var unusedReport = transport.thenAccept(this::reportHangingStart);
    control.execute(this::firstStart);
    var unused =
        control.scheduleWithFixedDelay(
            this::check, CHECK_INTERVAL_MS, CHECK_INTERVAL_MS, TimeUnit.MILLISECONDS);
    figures.startReports();
  }

  /** The first start may still succeed; then later requests use it. */
  private void reportHangingStart(BlockTransport completed) {
    List<String> reasons =
        List.of(
            "the start of RDMA hangs: it is not over after "
                + limits.firstStart().toMillis()
                + " ms");
    RuntimeStatus hanging = new RuntimeStatus(State.STARTING, reasons, null, true);
    if (completed == current && status.compareAndSet(RuntimeStatus.STARTING, hanging)) {
      LOG.warn(
          "The start of RDMA hangs; shuffle reads of this executor use TCP until it is over:"
              + " limitMs={}",
          limits.firstStart().toMillis());
    }
  }

  private void firstStart() {
    List<String> reasons = tryStart();
    if (status.get().is(State.STARTING)) {
      if (start.mayStartLater() || attempt.loss.get() != null) {
        stayOffForNow(reasons);
      } else {
        stayOff(reasons);
        var unused = directory.withdraw(executorId, reasons);
      }
    }
  }

  /** One start; returns the reasons why RDMA is not up. */
  private List<String> tryStart() {
    Attempt now = new Attempt();
    attempt = now;
    RunningParts started = start.run(reason -> reportLoss(now, reason), this::profile).orElse(null);
    if (started == null) {
      return start.reasons();
    }
    if (now.loss.get() == null && change(before -> RuntimeStatus.up(started))) {
      announce(started);
      return List.of();
    }
    unclosed = started;
    closeUnclosed();
    return now.loss.get() == null ? List.of() : List.of(now.loss.get());
  }

  private Map<String, Long> profile() {
    if (profile == null) {
      try {
        profile = directory.profile(executorId);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        LOG.info(
            "The driver does not name the ResourceProfile of this executor; the limit of pinned"
                + " memory follows the settings of the application",
            e);
      }
    }
    return profile == null ? Map.of() : profile;
  }

  private void announce(RunningParts started) {
    LOG.info("RDMA is up: {}", started.description());
    upSinceNs = System.nanoTime();
    current.set(started.transport().fetches());
    var unused =
        directory
            .publish(started.transport().endpoint())
            .thenAccept(taken -> published.countDown());
    transport.complete(current);
  }

  /** The transport of an attempt cannot be used any more. Any thread; returns at once. */
  private void reportLoss(Attempt lost, String reason) {
    if (lost.loss.compareAndSet(null, reason)) {
      control.execute(() -> turnOff(lost));
    }
  }

  /** Open requests are answered by TCP. Releasing everything lets the system remove the device. */
  private void turnOff(Attempt lost) {
    RuntimeStatus before = status.get();
    List<String> reasons = List.of(lost.loss.get());
    if (lost != attempt
        || !before.is(State.UP)
        || !status.compareAndSet(before, RuntimeStatus.off(reasons, true))) {
      return;
    }
    LOG.warn("RDMA is not used in this executor until it can be started: {}", reasons.get(0));
    var unused = directory.withdraw(executorId, reasons);
    if (System.nanoTime() - upSinceNs > STABLE_NS) {
      restarts = 0;
    }
    unclosed = before.parts();
    closeUnclosed();
    scheduleStart();
  }

  private void closeUnclosed() {
    if (unclosed.closeAll()) {
      unclosed = null;
    } else {
      LOG.warn(
          "RDMA stays off in this executor until it is closed completely; the close is repeated");
    }
  }

  /** RDMA is off; another start follows, and no task waits for it. */
  private void stayOffForNow(List<String> reasons) {
    change(before -> RuntimeStatus.off(reasons, false));
    LOG.warn(
        "RDMA is not used in this executor until it can be started: {}. {}",
        String.join("; ", reasons),
        RUN_DOCTOR);
    transport.complete(current);
    published.countDown();
    var unused = directory.withdraw(executorId, reasons);
    scheduleStart();
  }

  /** RDMA is off for the whole life of the executor. */
  private void stayOff(List<String> reasons) {
    if (change(before -> RuntimeStatus.off(reasons, false))) {
      LOG.warn(
          "RDMA is not used in this executor, its shuffle reads use TCP: {}. {}",
          String.join("; ", reasons),
          RUN_DOCTOR);
    }
    endWaits();
  }

  /** Readers and map tasks wait no longer, unless RDMA has been up. */
  private void endWaits() {
    transport.complete(BlockTransport.UNAVAILABLE);
    published.countDown();
  }

  private void scheduleStart() {
    long delayMs = restartDelayMs();
    restarts++;
    var unused = control.schedule(this::startAgain, delayMs, TimeUnit.MILLISECONDS);
  }

  private long restartDelayMs() {
    long firstMs = limits.firstRestart().toMillis();
    return Math.max(firstMs, Math.min(LAST_RESTART_MS, firstMs << Math.min(restarts, 16)));
  }

  private void startAgain() {
    if (status.get().is(State.STOPPED)) {
      return;
    }
    if (unclosed != null && unclosed.closeRest()) {
      unclosed = null;
    }
    List<String> known = status.get().reasons();
    List<String> reasons = unclosed == null ? tryStart() : known;
    if (!status.get().is(State.OFF)) {
      return;
    }
    change(before -> RuntimeStatus.off(reasons, before.returns()));
    if (reasons.equals(known)) {
      LOG.info("RDMA still cannot be started: nextAttemptMs={}", restartDelayMs());
    } else {
      // The first reason may be over, and this one may need a person.
      LOG.warn(
          "RDMA cannot be started; next attempt in {} ms: {}",
          restartDelayMs(),
          String.join("; ", reasons));
    }
    scheduleStart();
  }

  /** Changes the status unless the runtime is stopped; returns whether it did. */
  private boolean change(UnaryOperator<RuntimeStatus> next) {
    RuntimeStatus before =
        status.getAndUpdate(now -> now.is(State.STOPPED) ? now : next.apply(now));
    return !before.is(State.STOPPED);
  }

  /** Each second: looks for a transport that hangs, which it reports as a loss. */
  private void check() {
    RuntimeStatus now = status.get();
    if (now.is(State.UP)) {
      try {
        now.parts().transport().check().run();
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

  /** Whether readers should use {@link #client}; it may be starting, if that does not hang. */
  public boolean mayFetch() {
    return status.get().mayFetch() && !start.forbidden();
  }

  /** A task begins to read; the driver gets this executor's figures soon after all have ended. */
  public void beginRead(TaskContext task) {
    figures.beginRead(task);
  }

  /** Account of pinned memory; empty while RDMA is not up. */
  public Optional<PinnedBudget> pinned() {
    RuntimeStatus now = status.get();
    return now.is(State.UP) ? Optional.of(now.parts().budget()) : Optional.empty();
  }

  /** Fetches for all readers of this executor. */
  public RdmaBlockClient client() {
    return client;
  }

  /**
   * Waits until peers can find this executor or RDMA is off here, but only in the first seconds of
   * the executor's life, so that only its first tasks wait.
   */
  public void awaitPublished() {
    try {
      long leftNs = PUBLISH_LIMIT_NS - (System.nanoTime() - createdNs);
      if (!published.await(leftNs, TimeUnit.NANOSECONDS)) {
        LOG.debug("Endpoint not published in time; peers may not find this executor yet");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
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
      now = await(atMost);
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
   * @return whether RDMA is up, and why not
   */
  public StartOutcome awaitStart(Duration atMost) throws InterruptedException {
    RuntimeStatus now = await(atMost);
    boolean up = now.is(State.UP);
    return new StartOutcome(up, up ? start.reasons() : List.of(reasonText(now)));
  }

  private static String reasonText(RuntimeStatus now) {
    return now.reasons().isEmpty() ? "still starting" : String.join("; ", now.reasons());
  }

  /** Waits for a start that runs or follows a loss, without a lock; returns the status then. */
  private RuntimeStatus await(Duration atMost) throws InterruptedException {
    long deadlineNs = System.nanoTime() + atMost.toNanos();
    RuntimeStatus now = status.get();
    while (now.returns() && deadlineNs - System.nanoTime() > 0) {
      TimeUnit.MILLISECONDS.sleep(TASK_POLL_MS);
      now = status.get();
    }
    return now;
  }

  /** Sends findings of this executor to the driver; returns at once. */
  public void send(ExecutorFindings findings) {
    directory.send(findings);
  }

  /** Deregisters the files of a shuffle that Spark has removed. Returns at once. */
  public void unregisterShuffle(int shuffleId) {
    RuntimeStatus now = status.get();
    if (now.is(State.UP)) {
      now.parts().transport().unregisterShuffle().accept(shuffleId);
    }
  }

  /**
   * From now on requests of tasks go to Spark's own client on the task's thread, and no new reader
   * uses RDMA. Closes nothing and returns at once.
   */
  void drain() {
    client.drain();
    Optional<PinnedBudget> pinned = pinned();
    if (!status.getAndUpdate(RuntimeStatus::stopped).is(State.STOPPED)) {
      LOG.info("Shuffle of this executor: {}", RuntimeSummary.of(counters, pinned));
    }
    endWaits();
  }

  /**
   * Drains, ends a start that is still running, and closes what is open, in bounded time; a second
   * close does nothing. While the JVM ends it only drains.
   */
  @Override
  public void close() {
    drain();
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
    if (status.get().parts() == null) {
      // A start that is still running closes its own resources.
      control.interrupt();
    }
    directory.close();
    Future<?> closing = control.submit(this::closeParts);
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

  private void closeParts() {
    RunningParts open = unclosed == null ? status.get().parts() : unclosed;
    if (open != null) {
      open.closeAll();
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
