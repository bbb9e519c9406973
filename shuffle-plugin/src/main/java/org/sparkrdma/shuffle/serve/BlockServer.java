// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.device.DeviceFitness;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/**
 * Answers the LOCATEs of all peers. The agent owns all of its state: map outputs and windows, the
 * leases, and the LOCATEs that wait.
 *
 * <p>A LOCATE whose blocks are in windows is answered before {@link #locate} returns. What is
 * missing is copied by {@link BlockLoad}s, whose results come back to the agent as commands;
 * windows are registered beside the answers, where that pays. A LOCATE that waits is answered when
 * nothing is missing, or at half of the reader's time-out with what there is; the reader asks for
 * the rest again. One for which there is no memory waits until others release theirs, then uses
 * TCP. Its memory is registered and deregistered on threads of the disks, never on the agent.
 *
 * <p>The transport creates it, starts it, calls {@link #doWork} in each turn of the agent, and
 * closes it after the agent has ended and before the protection domain. Methods are confined to the
 * agent unless they say otherwise.
 */
public final class BlockServer {
  /** Minimum length of an answer buffer: one extent with one checksum. */
  public static final int MIN_ANSWER_BYTES =
      Located.HEADER_BYTES + Located.EXTENT_BYTES + Located.SUM_BYTES;

  private static final Logger LOG = LoggerFactory.getLogger(BlockServer.class);
  private static final long NS_PER_MS = 1_000_000;

  private static final long MEMORY_CHECK_NS = Duration.ofMillis(20).toNanos();

  private final PinnedBudget budget;
  private final ShuffleCounters counters;
  private final Consumer<Runnable> agent;
  private final LongSupplier nanoClock;
  private final long idleNs;
  private final long leaseNs;
  private final DiskWork.Workers workers;
  private final DiskWork work;
  private final CopyMemory memory;
  private final IdleWindows idleWindows;
  private final IndexCache indexes;
  private final Leases leases;
  private final LocatePlanner planner;
  private final AnswerWriter writer;
  private final WaitingLocates waiting;

  /** No deadline is earlier. */
  private long nextDeadlineNs;

  /** Time at which memory of copies was trimmed last. */
  private long trimmedNs;

  private boolean stopped;

  public BlockServer(ServerParameters parameters) {
    this(
        parameters,
        new DiskThreads(parameters.outputs().disks()),
        new SystemFiles(Path.of("/")),
        null);
  }

  /**
   * @param workers run by a test
   * @param systemFiles of this machine; other ones in tests
   * @param price of windows; null to measure it
   */
  BlockServer(
      ServerParameters server,
      DiskWork.Workers workers,
      SystemFiles systemFiles,
      WindowPrice price) {
    ServeSettings settings = server.settings();
    MapOutputs source = server.outputs();
    DeviceFitness fitness = server.fitness();
    this.budget = server.device().budget();
    this.counters = server.counters();
    this.agent = server.agent();
    this.nanoClock = server.device().nanoClock();
    this.idleNs = settings.idle().toNanos();
    this.leaseNs = settings.lease().toNanos();
    this.workers = workers;
    this.nextDeadlineNs = nanoClock.getAsLong();
    this.trimmedNs = nextDeadlineNs;
    int realDisks = Math.max(1, source.directories().size());
    this.work =
        new DiskWork(workers, agent, nanoClock, source.disks(), realDisks, this::serveMemory);
    this.memory = new CopyMemory(server.device(), settings.chunkBytes());
    this.indexes =
        new IndexCache(source, settings.windowBytes(), settings.indexPartitions(), counters);
    this.idleWindows = new IdleWindows(memory, counters);
    LoadContext context = LoadContext.of(server, memory, work);
    WindowPrice[] prices = new WindowPrice[source.disks()];
    Arrays.fill(prices, context.waitsForWindows() ? null : price);
    List<Path> excluded =
        FileProbe.copiedDirectories(server, systemFiles, fitness.fileAccess(settings));
    FileWindows windows = new FileWindows(server, excluded, prices, context, idleWindows);
    this.planner = new LocatePlanner(server, indexes, windows, context, this::goOn);
    this.waiting = new WaitingLocates(server, context, windows, idleWindows, planner, this::goOn);
    this.leases =
        new Leases(
            settings.lease(), settings.connectionLeases(), counters, new SecureRandom().nextLong());
    this.writer = new AnswerWriter(indexes, windows, context, counters);
    if (settings.mode() == ServeSettings.Mode.ODP && !fitness.pagesOnDemand(settings)) {
      LOG.warn(
          "spark.shuffle.rdma.serve=odp is served as auto: device {} does not page on demand",
          fitness.device().name());
    }
    budget.onShortage(waiting::onShortage);
    if (context.registers() && !context.waitsForWindows() && price == null) {
      windows.measurePrices();
    }
  }

  /** Starts the threads of the disks; once, before the agent. */
  public void start() {
    workers.start();
  }

  /**
   * Answers a LOCATE, at once if its blocks are in windows; otherwise suspends it until it can be
   * answered.
   *
   * @throws IllegalArgumentException when the answer's buffer has not {@link #MIN_ANSWER_BYTES}
   */
  public void locate(OpenLocate locate) {
    if (locate.answer().capacity() < MIN_ANSWER_BYTES) {
      throw new IllegalArgumentException(
          "answer buffer too short: lengthBytes=" + locate.answer().capacity());
    }
    long nowNs = nanoClock.getAsLong();
    WaitingLocate waited = locate.waiting();
    boolean isNew = waited == null;
    if (isNew && !decode(locate, nowNs)) {
      return;
    }
    if (stopped || (isNew && leases.isFull(locate.connection()))) {
      if (!stopped) {
        counters.increment(Counter.PEERS_LIMITED);
      }
      writer.refuseAll(locate, Located.Kind.BUSY, nowNs);
      answer(locate, nowNs);
      return;
    }
    boolean complete = writer.write(locate, nowNs);
    if (!complete && isNew && nowNs - locate.deadlineNs() < 0) {
      suspend(locate, nowNs);
      return;
    }
    if (writer.isEmpty()) {
      boolean lacksMemory = waited != null && waited.lacksMemory();
      counters.increment(lacksMemory ? Counter.SERVE_WAITS_VAIN : Counter.LOCATES_OVERLOADED);
      writer.refuseAll(locate, lacksMemory ? Located.Kind.BUSY : Located.Kind.OVERLOADED, nowNs);
    }
    answer(locate, nowNs);
  }

  /** Something is missing: it waits until that is loaded. */
  private void suspend(OpenLocate locate, long nowNs) {
    WaitingLocate suspended = locate.suspend(memory.shareOf(locate.reader()), writer.roomBytes());
    if (!writer.isEmpty()) {
      suspended.setHasResults();
    }
    waiting.add(suspended);
    wakeAt(locate.deadlineNs());
    planner.loadAll(suspended, nowNs);
    goOn(suspended);
  }

  /** Decodes a LOCATE, and releases its leases; returns false when it is malformed. */
  private boolean decode(OpenLocate locate, long nowNs) {
    try {
      Locate request = locate.decode(leaseNs);
      for (int i = 0; i < request.leaseCount(); i++) {
        if (!leases.release(locate.connection(), request.leaseId(i), nowNs)) {
          throw new MalformedMessageException("release of another peer's lease: lease=" + i);
        }
      }
      if (request.leaseCount() > 0) {
        waiting.serveMemory(nowNs);
      }
      return true;
    } catch (MalformedMessageException e) {
      counters.increment(Counter.PROTOCOL_ERRORS);
      locate.replies().malformed(e.getMessage());
      return false;
    }
  }

  private void answer(OpenLocate locate, long nowNs) {
    Leases.Lease lease = locate.lease();
    int lengthBytes;
    if (lease.isEmpty()) {
      lengthBytes = writer.finish(0, 0);
    } else {
      leases.grant(lease, nowNs);
      wakeAt(lease.deadlineNs());
      long remainingMs = (lease.deadlineNs() - nowNs) / NS_PER_MS;
      lengthBytes =
          writer.finish(lease.id(), (int) Math.max(0, Math.min(Integer.MAX_VALUE, remainingMs)));
    }
    if (locate.waiting() != null) {
      waiting.remove(locate.waiting());
      locate.waiting().end(nowNs);
    }
    locate.replies().answered(locate, lengthBytes);
  }

  /** Memory may have become free. */
  private void serveMemory() {
    waiting.serveMemory(nanoClock.getAsLong());
  }

  /** A LOCATE that loads nothing any more is answered, or waits for memory. */
  private void goOn(WaitingLocate locate) {
    if (locate.is(WaitingLocate.State.ENDED)) {
      serveMemory();
    }
    if (!locate.is(WaitingLocate.State.LOADING) || locate.loading() > 0) {
      return;
    }
    long nowNs = nanoClock.getAsLong();
    boolean hasResults = planner.hasResults(locate, nowNs);
    if (hasResults) {
      waiting.onResults(locate, nowNs);
    }
    if (hasResults || !locate.lacksMemory() || !waiting.mayWait(locate, nowNs)) {
      locate.resume();
      return;
    }
    waiting.waitForMemory(locate, nowNs);
    wakeAt(nowNs + MEMORY_CHECK_NS);
  }

  /**
   * Releases a lease of a peer.
   *
   * @return false when it is another peer's, which is counted
   */
  public boolean release(long connection, long leaseId) {
    long nowNs = nanoClock.getAsLong();
    boolean own = leases.release(connection, leaseId, nowNs);
    if (!own) {
      counters.increment(Counter.PROTOCOL_ERRORS);
    }
    waiting.serveMemory(nowNs);
    return own;
  }

  /**
   * Whether a lease of a peer has expired: its connection must end. Its leased memory stays
   * registered until {@link #onConnectionGone}.
   */
  public boolean hasExpiredLease(long connection) {
    return leases.hasExpired(connection);
  }

  /**
   * Whether a peer holds memory while other readers wait for some.
   *
   * @param reader its identity
   */
  public boolean holdsWhatOthersLack(long connection, long reader, long nowNs) {
    return waiting.isLackedByOthers(reader, nowNs) && leases.holdsMemory(connection);
  }

  /**
   * The queue pair of a peer is destroyed: its leases end, and its LOCATEs are dropped, whose
   * buffers the server uses no more. Each connection has a number of its own.
   */
  public void onConnectionGone(long connection) {
    long nowNs = nanoClock.getAsLong();
    waiting.drop(connection, nowNs);
    leases.onConnectionGone(connection, nowNs);
    waiting.serveMemory(nowNs);
  }

  /**
   * Unregisters a shuffle: its windows that nothing holds are deregistered at once, the others when
   * their leases end. Any thread. To be called after the shuffle's files are gone, so that a late
   * LOCATE finds nothing to register again.
   */
  public void unregisterShuffle(int shuffleId) {
    agent.accept(() -> indexes.unregister(shuffleId));
  }

  /**
   * Does what is due: answers LOCATEs at their deadlines, expires leases, frees idle memory. To be
   * called in each turn of the agent.
   *
   * @return number of LOCATEs whose time is over
   */
  public int doWork(long nowNs) {
    if (nowNs - nextDeadlineNs < 0) {
      return 0;
    }
    nextDeadlineNs = nowNs + idleNs;
    int answered = waiting.resumeOverdue(nowNs);
    if (waiting.lackMemory()) {
      // Nothing tells that receive memory has returned some.
      waiting.serveMemory(nowNs);
      waiting.resumeSlow(nowNs);
      wakeAt(nowNs + MEMORY_CHECK_NS);
    }
    wakeAt(waiting.nextDeadlineNs(nextDeadlineNs));
    leases.expire(nowNs);
    idleWindows.returnIdleSince(nowNs - idleNs);
    wakeAt(idleWindows.firstIdleNs(nowNs) + idleNs);
    trimCopies(nowNs);
    wakeAt(leases.nextDeadlineNs(nextDeadlineNs));
    return answered;
  }

  /** Deregisters memory of copies that nobody has used for an idle time. */
  private void trimCopies(long nowNs) {
    if (nowNs - trimmedNs >= idleNs) {
      trimmedNs = nowNs;
      if (waiting.isEmpty()) {
        memory.dropUnusedShares();
      }
      if (memory.unusedBytes() > 0) {
        work.deregister(memory::trimUnused);
      }
    }
  }

  private void wakeAt(long deadlineNs) {
    if (deadlineNs - nextDeadlineNs < 0) {
      nextDeadlineNs = deadlineNs;
    }
  }

  /** Time at which {@link #doWork} may have something to do, as that of the clock. */
  public long nextDeadlineNs() {
    return nextDeadlineNs;
  }

  /**
   * Ends the threads and deregisters everything, leased or not: from then on a peer's READ fails.
   * After the end of the agent. After a false result another call goes on.
   *
   * @param limit of the wait for a disk that hangs
   * @param drain runs the commands that the agent has not run
   * @return false when a thread of a disk has not ended, and memory stays registered
   */
  public boolean close(Duration limit, Runnable drain) {
    stopped = true;
    planner.stop();
    budget.onShortage(lengthBytes -> {});
    if (!workers.close(limit)) {
      LOG.warn(
          "Threads for a disk or deregistration did not stop in time; memory stays registered until"
              + " its disk or the device returns: limitMs={}",
          limit.toMillis());
      return false;
    }
    // The threads have ended: from now on memory is closed at once, that of the drain included.
    work.closeAtOnce();
    drain.run();
    long nowNs = nanoClock.getAsLong();
    waiting.dropAll(nowNs);
    leases.close(nowNs);
    indexes.close();
    memory.close();
    return true;
  }
}
