// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskKilledException;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.DirectoryClient;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import org.sparkrdma.shuffle.read.TcpFallback;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Verbs;

/**
 * Owner of everything that one executor runs for RDMA, and of its resources.
 *
 * <pre>
 *   STARTING ──engine, device, transport──► UP ◄──────────────── RESTARTING
 *       │                                   │ device lost         ▲   │ refused
 *       └──────────any of them refused────► OFF ──after a wait────┘   │
 *                                           ▲ └───────────────────────┘
 *   any state ──close──► STOPPED
 * </pre>
 *
 * <p>{@link #start} works on a separate thread, so that neither a task nor Spark's dispatcher
 * waits. Owned by the {@code RdmaShuffleManager}, which closes it. Safe for any thread.
 *
 * <p>When the JVM ends by a signal, tasks continue while the shutdown hooks run. Then nothing is
 * closed: new requests go to Spark's own client, open requests end normally, and registered memory
 * is left to the system. A refused block would make Spark blame the executor that serves it, which
 * is healthy.
 */
public final class RdmaRuntime implements AutoCloseable {
  /** State of the runtime. */
  enum State {
    /** The start is running. */
    STARTING,
    /** Serving and fetching. */
    UP,
    /**
     * RDMA is not used, for the reasons given. After the loss of a device another start follows.
     */
    OFF,
    /** The device was lost, and a later start is running. */
    RESTARTING,
    /** Closed. */
    STOPPED
  }

  private static final Logger LOG = LoggerFactory.getLogger(RdmaRuntime.class);

  /** Maximum wait of the first map tasks until this executor is in the directory. */
  private static final Duration PUBLISH_LIMIT = Duration.ofSeconds(5);

  /** Age of an executor until which a task that needs RDMA waits for executors that have it. */
  private static final Duration OTHERS_LIMIT = Duration.ofSeconds(20);

  private static final long OTHERS_INTERVAL_MS = 500;

  /** Maximum wait of a close for a running start. */
  private static final long START_END_MS = 5_000;

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(15);

  /** Wait between the loss of the device and the first attempt to use it again. */
  private static final Duration FIRST_RESTART = Duration.ofSeconds(1);

  /** After so long RDMA counts as stable, and the next restart comes soon after a loss. */
  private static final Duration STABLE = Duration.ofMinutes(1);

  /** Maximum number of peers with a TCP connect in progress. */
  private static final int TCP_THREADS = 64;

  private final Duration closeLimit;
  private final String executorId;
  private final RuntimeStart start;
  private final DirectoryClient directory;
  private final TcpFallback tcp;
  private final CurrentTransport current = new CurrentTransport();
  private final CompletableFuture<BlockTransport> transport = new CompletableFuture<>();
  private final RestartBackoff backoff;
  private final RdmaBlockClient client;
  private final CountDownLatch published = new CountDownLatch(1);
  private final long createdNs = System.nanoTime();
  private final Thread starter = new Thread(this::run, "rdma-runtime-start");
  private final Thread shutdownHook = new Thread(this::drain, "rdma-runtime-shutdown");

  private State state = State.STARTING;
  private List<String> reasons = List.of();
  private RunningParts parts;
  private int attempts;

  /** The attempt whose device is lost; 0 for none. */
  private int lostAttempt;

  /** Whether the first start is over. */
  private boolean decided;

  /** Whether the device is lost and RDMA will be started again. */
  private boolean comesBack;

  private long upSinceNs;

  /** Starts since RDMA was last up for {@link #STABLE}. */
  private int restarts;

  /** False when a device does not close. */
  private volatile boolean mayRestart = true;

  /** Runs later starts; null before the device is lost. */
  private Thread restarter;

  /** Why the transport of the running start failed before the start was over; else null. */
  private String failedAtStart;

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
            resolver,
            settings,
            counters,
            Verbs::choose,
            TransportFactory::startRdma,
            warnings);
    return new RdmaRuntime(env, settings, counters, start, CLOSE_LIMIT, FIRST_RESTART);
  }

  /**
   * @param closeLimit maximum wait of a close for the transport; the rest is left to the system
   * @param firstRestart wait before the first start after the loss of the device
   */
  RdmaRuntime(
      SparkEnv env,
      ShuffleSettings settings,
      ShuffleCounters counters,
      RuntimeStart start,
      Duration closeLimit,
      Duration firstRestart) {
    this.closeLimit = closeLimit;
    this.backoff = new RestartBackoff(firstRestart);
    this.executorId = env.executorId();
    this.start = start;
    this.directory = new DirectoryClient(env, settings.lookupTimeout());
    BlockStoreClient spark = env.blockManager().blockStoreClient();
    this.tcp = new TcpFallback(spark, counters, TCP_THREADS);
    this.client =
        new RdmaBlockClient(spark, transport, directory, tcp, counters, settings.lookupTimeout());
    starter.setDaemon(true);
  }

  /** Starts RDMA; called once. In a JVM that is shutting down it closes instead. */
  public void start() {
    try {
      Runtime.getRuntime().addShutdownHook(shutdownHook);
      starter.start();
    } catch (IllegalStateException e) {
      LOG.debug("RDMA not started: the JVM is shutting down", e);
      drain();
    }
  }

  /** The present state. */
  synchronized State state() {
    return state;
  }

  /** Whether readers should use {@link #client}; it may still be starting. */
  public boolean mayFetch() {
    State now = state();
    return now == State.UP || (now == State.STARTING && !start.forbidden());
  }

  /** Reasons why it is {@link State#OFF}. */
  synchronized List<String> reasons() {
    return reasons;
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
    try {
      long leftNs = PUBLISH_LIMIT.toNanos() - (System.nanoTime() - createdNs);
      if (!published.await(leftNs, TimeUnit.NANOSECONDS)) {
        LOG.debug("Endpoint not published in time; peers may not find this executor yet");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until RDMA is up. When it is off, requests that the driver gives this executor no more
   * tasks.
   *
   * @throws TaskKilledException when the driver does so; Spark runs the task elsewhere and does not
   *     count a failure
   * @throws IllegalStateException naming every reason why RDMA is not up
   */
  public void require(Duration atMost) {
    State now;
    try {
      now = awaitDecision(atMost.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while RDMA was starting", e);
    }
    if (now != State.UP) {
      String message =
          ShuffleSetting.MODE.key()
              + "=required and RDMA is not up: "
              + (now == State.STARTING ? "still starting" : String.join("; ", reasons()));
      boolean off = now == State.OFF || now == State.RESTARTING;
      if (off && awaitExclusion()) {
        throw new TaskKilledException(message);
      }
      throw new IllegalStateException(message);
    }
  }

  /** Waits while RDMA is starting for the first time or again; returns the state after that. */
  private synchronized State awaitDecision(long atMostNs) throws InterruptedException {
    long deadlineNs = System.nanoTime() + atMostNs;
    long leftNs = atMostNs;
    while ((!decided || comesBack) && leftNs > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      leftNs = deadlineNs - System.nanoTime();
    }
    return state;
  }

  /** Retries for a while: at the start of an application other executors may still be missing. */
  private boolean awaitExclusion() {
    try {
      while (!directory.exclude(executorId).get()) {
        if (System.nanoTime() - createdNs > OTHERS_LIMIT.toNanos()) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(OTHERS_INTERVAL_MS);
      }
      return true;
    } catch (ExecutionException e) {
      LOG.info("Cannot ask the driver to exclude this executor; its task fails", e);
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Deregisters the files of a shuffle. */
  public void unregisterShuffle(int shuffleId) {
    RunningParts up;
    synchronized (this) {
      up = state == State.UP ? parts : null;
    }
    if (up != null) {
      up.transport().unregisterShuffle().accept(shuffleId);
    }
  }

  private void run() {
    if (attempt() == State.OFF) {
      LOG.warn(
          "RDMA is not used in this executor, its shuffle reads use TCP: {}",
          String.join("; ", reasons()));
      giveUp("RDMA is off");
      var unused = directory.withdraw(executorId, reasons());
    }
    synchronized (this) {
      decided = true;
      notifyAll();
    }
  }

  /** One start, on the thread that calls it; returns the state after it. */
  private State attempt() {
    int number = beginAttempt();
    RunningParts started = start.run(reason -> onOutOfService(number, reason)).orElse(null);
    State now = settle(started, start.reasons());
    if (started != null && now != State.UP && !started.closeAll()) {
      // A device that does not close would be opened a second time.
      mayRestart = false;
    }
    if (now == State.UP) {
      LOG.info("RDMA is up: {}", started.transport().endpoint());
      announce(number, started.transport());
      transport.complete(current);
    }
    return now;
  }

  private synchronized int beginAttempt() {
    if (state == State.OFF) {
      state = State.RESTARTING;
    }
    failedAtStart = null;
    return ++attempts;
  }

  /**
   * Readers and peers may use the transport of an attempt. Not after {@link #turnOff} of that
   * attempt, whose withdrawal must be the later call.
   */
  private synchronized void announce(int number, RunningParts.Transport started) {
    if (state == State.UP && number == attempts) {
      current.set(started.fetches());
      var unused = directory.publish(started.endpoint()).thenRun(published::countDown);
    }
  }

  /**
   * Called on the transport's own thread, which cannot close the transport.
   *
   * @param number of the attempt that started the transport
   */
  private void onOutOfService(int number, String reason) {
    synchronized (this) {
      if (number == attempts && (state == State.STARTING || state == State.RESTARTING)) {
        failedAtStart = reason;
        return;
      }
      if (state != State.UP || number != attempts || number == lostAttempt) {
        return;
      }
      lostAttempt = number;
    }
    Thread closer = new Thread(() -> turnOff(number, reason), "rdma-runtime-off");
    closer.setDaemon(true);
    closer.start();
  }

  /** Open requests are answered by TCP. Releasing everything lets the system remove the device. */
  private void turnOff(int number, String reason) {
    RunningParts open;
    synchronized (this) {
      if (state != State.UP || number != attempts) {
        return;
      }
      open = parts;
      parts = null;
      state = State.OFF;
      reasons = List.of(reason);
      comesBack = true;
      restarter = Thread.currentThread();
      if (System.nanoTime() - upSinceNs > STABLE.toNanos()) {
        restarts = 0;
      }
    }
    LOG.warn("RDMA is not used in this executor until it can be started again: {}", reason);
    var unused = directory.withdraw(executorId, reasons());
    mayRestart = open.closeAll();
    restart();
    endOfRestarts();
  }

  /**
   * Tries to start until RDMA is up or this is closed. The waits grow also when each start succeeds
   * and RDMA is lost soon after it.
   */
  private void restart() {
    State now = State.OFF;
    int restart = nextRestart();
    while (now == State.OFF && mayRestart && backoff.await(restart)) {
      now = attempt();
      if (now == State.OFF) {
        restart = nextRestart();
        LOG.info(
            "RDMA cannot be started again; next attempt in {} ms: {}",
            backoff.delayMs(restart),
            String.join("; ", reasons()));
      }
    }
  }

  private synchronized int nextRestart() {
    return restarts++;
  }

  /** This thread starts RDMA no more; another one may after a later loss. */
  private synchronized void endOfRestarts() {
    if (restarter == Thread.currentThread()) {
      comesBack = false;
      notifyAll();
    }
  }

  private void giveUp(String detail) {
    transport.completeExceptionally(new IllegalStateException(detail));
    published.countDown();
  }

  /** The state after the start: stopped when the runtime was closed in the meantime. */
  private synchronized State settle(RunningParts started, List<String> found) {
    if (state == State.STARTING || state == State.RESTARTING) {
      boolean up = started != null && failedAtStart == null;
      parts = up ? started : null;
      reasons = failedAtStart == null ? found : List.of(failedAtStart);
      state = up ? State.UP : State.OFF;
      if (up) {
        comesBack = false;
        upSinceNs = System.nanoTime();
        notifyAll();
      }
    }
    return state;
  }

  /**
   * From now on requests of tasks go to Spark's own client on the task's thread, and no new reader
   * uses RDMA. Closes nothing and returns at once.
   */
  private void drain() {
    backoff.end();
    client.drain();
    synchronized (this) {
      state = State.STOPPED;
      decided = true;
      comesBack = false;
      notifyAll();
    }
    giveUp("RDMA is stopped");
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
    RunningParts open;
    synchronized (this) {
      open = parts;
      parts = null;
    }
    awaitStarts();
    directory.close();
    if (open != null) {
      closeInTime(open);
    }
    tcp.close();
  }

  /** Limits the time of a close, because a device may hang. */
  private void closeInTime(RunningParts open) {
    Thread closer = new Thread(open::close, "rdma-runtime-close");
    closer.setDaemon(true);
    closer.start();
    join(closer, closeLimit.toMillis());
    if (closer.isAlive()) {
      LOG.warn(
          "RDMA did not close within {} ms; registered memory is left to the system",
          closeLimit.toMillis());
    }
  }

  /** Waits for a running start, which closes its own resources. */
  private void awaitStarts() {
    starter.interrupt();
    join(starter, START_END_MS);
    Thread later;
    synchronized (this) {
      later = restarter;
    }
    if (later != null) {
      join(later, START_END_MS);
    }
  }

  private static void join(Thread thread, long limitMs) {
    try {
      thread.join(limitMs);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
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
