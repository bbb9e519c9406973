// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongSupplier;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Answers the LOCATEs of all peers.
 *
 * <p>Other threads submit commands and never block. The server's thread executes them: releases and
 * ends of peers first, then LOCATEs as far as they need no disk. A LOCATE that needs one continues
 * on a thread of that disk, see {@link LocateSteps} and {@link DiskThreads}. All of them hold
 * {@link StateLock} while they use windows, slots, leases and indexes. The server's thread sleeps
 * until the next command or deadline. The runtime constructs it, starts it, and closes it after the
 * transport and before the protection domain.
 *
 * <p>A LOCATE of a closed connection is dropped. Blocks that have waited too long for a disk, see
 * {@link LoadLimits}, are answered with {@link Located.Kind#OVERLOADED} by the server's thread, so
 * that overload ends, and a disk that hangs too. Blocks of one LOCATE on different disks do not
 * wait for each other: an answer leaves out those of a slow disk. The queues need no bound of their
 * own: a connection has a bounded number of open requests.
 *
 * <p>An answer may end early: because the message is full, because one answer has registered or
 * located {@value Placement#MAX_ANSWER_BYTES} bytes, or because the budget is full of leases, this
 * answer's own among them. It then has at least one piece, and the reader requests the rest again.
 */
public final class BlockServer implements AutoCloseable {
  /** Minimum length of an answer buffer: one piece with one checksum. */
  public static final int MIN_ANSWER_BYTES =
      Located.HEADER_BYTES + Located.PIECE_BYTES + Located.SUM_BYTES;

  /** Maximum wait of {@link #close} for a disk that hangs. */
  public static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

  /** Maximum number of commands between two checks of the leases. */
  private static final int MAX_BATCH = 64;

  /** Maximum number of blocks of a LOCATE that the agent answers itself. */
  private static final int SMALL_BLOCKS = 8;

  /** Maximum number of leases that such a LOCATE, or a RELEASE that the agent answers, releases. */
  private static final int SMALL_LEASES = 64;

  /** Maximum number of windows and slots that the leases of such a RELEASE hold. */
  static final int SMALL_HELD = 64;

  private static final long MAX_SLEEP_NS = Duration.ofHours(1).toNanos();

  private final StateLock state;
  private final DiskThreads diskThreads = new DiskThreads();
  private final LongSupplier nanoClock;
  private final long maxWaitNs;
  private final ShuffleCounters counters;
  private final PinnedBudget budget;
  private final ServingParts parts;
  private final ServerThread thread = new ServerThread(this);
  private final LocateSteps.Deadlines deadlines = new ThreadDeadlines();
  private final LocateSteps steps;

  private final Runnable expireLeases = this::expireLeases;
  private final Runnable releaseIdle = this::releaseIdle;
  private final Runnable checkOpen = this::checkOpen;
  private final Runnable continueShortage;

  /** Time of the last turn of the server's thread, which sets it. */
  private volatile long tickNs;

  private final ServerCommands commands;
  private final Queue<LocateTask> requests = new ConcurrentLinkedQueue<>();
  private volatile boolean ended;

  /** Whether commands and LOCATEs are being executed, of which none must be overtaken. */
  private volatile boolean busy;

  public BlockServer(ServerParameters parameters) {
    this(parameters, null);
  }

  /**
   * @param diskQueues of each disk of the map outputs; null to make them
   */
  BlockServer(ServerParameters parameters, List<DiskQueue> diskQueues) {
    this(parameters, diskQueues, System::nanoTime);
  }

  /**
   * @param probeClock of {@link CostProbe}; another one in tests
   */
  BlockServer(ServerParameters parameters, List<DiskQueue> diskQueues, LongSupplier probeClock) {
    this(parameters, diskQueues, probeClock, new StateLock());
  }

  /**
   * @param state another one in tests
   */
  BlockServer(
      ServerParameters parameters,
      List<DiskQueue> diskQueues,
      LongSupplier probeClock,
      StateLock state) {
    this.state = state;
    commands = new ServerCommands(state);
    nanoClock = parameters.nanoClock();
    tickNs = nanoClock.getAsLong();
    maxWaitNs = LoadLimits.of(parameters.requestTimeout()).maxWaitNs();
    counters = parameters.counters();
    budget = parameters.budget();
    int count = parameters.outputs().disks();
    List<DiskQueue> disks = diskQueues != null ? diskQueues : diskThreads.open(count, nanoClock);
    parts = ServingParts.create(parameters, disks, state, probeClock);
    steps = new LocateSteps(parts.locator(), disks, state, deadlines);
    ShortageCommand shortage = new ShortageCommand(this::submit, this::makeRoom);
    continueShortage = shortage::continueLater;
    budget.onShortage(shortage);
  }

  /** A part of the room that a shortage needs; threads that wait for the lock precede the rest. */
  private boolean makeRoom(long lengthBytes) {
    boolean isPart = parts.idle().makeRoom(lengthBytes);
    if (isPart) {
      state.letOthersIn();
    }
    return isPart;
  }

  /** Starts the thread; once. */
  public void start() {
    thread.start();
  }

  /**
   * Answers a LOCATE later. Any thread; after {@link #close}, at once and with BUSY for all.
   *
   * @throws IllegalArgumentException when the answer's buffer has not {@link #MIN_ANSWER_BYTES}
   */
  public void locate(LocateCall call) {
    locate(call, nanoClock.getAsLong());
  }

  /**
   * Answers a LOCATE that was received at this time later. Once it has waited longer than {@link
   * #maxWaitNs}, its answer is OVERLOADED for all blocks.
   */
  public void locate(LocateCall call, long receivedNs) {
    checkAnswer(call);
    requests.add(new LocateTask(call, receivedNs));
    wakeUp();
  }

  /**
   * Answers a LOCATE of at most {@value #SMALL_BLOCKS} blocks before it returns, when they need no
   * disk, nothing else waits for the server's thread and no other thread uses the state. Else like
   * {@link #locate(LocateCall, long)}. It saves two wake-ups of threads. Any thread; it does not
   * wait for other LOCATEs.
   */
  public void locateSoon(LocateCall call, long receivedNs) {
    checkAnswer(call);
    LocateTask task = new LocateTask(call, receivedNs);
    if (hasWork() || busy || !isSmall(call) || !steps.tryBegin(task)) {
      requests.add(task);
      wakeUp();
    }
  }

  private static boolean isSmall(LocateCall call) {
    return Locate.requestedBlocks(call.request()) <= SMALL_BLOCKS
        && Locate.releasedLeases(call.request()) <= SMALL_LEASES;
  }

  private static void checkAnswer(LocateCall call) {
    if (call.answer().capacity() < MIN_ANSWER_BYTES) {
      throw new IllegalArgumentException(
          "answer buffer too short: lengthBytes="
              + call.answer().capacity()
              + " min="
              + MIN_ANSWER_BYTES);
    }
  }

  /**
   * Longest time that a LOCATE may wait before it is located; beyond it its blocks are fetched by
   * TCP.
   */
  public long maxWaitNs() {
    return maxWaitNs;
  }

  /**
   * Releases leases of a peer, before any waiting LOCATE is located. Any thread. The array belongs
   * to the server from now on.
   *
   * @param done run when they are released; with the server's lock, must not block; run again when
   *     it throws
   */
  public void release(long peer, long[] leaseIds, Runnable done) {
    submit(releaseCommand(peer, leaseIds, done));
  }

  /**
   * Releases leases of a peer before it returns, when they are at most {@value #SMALL_LEASES} and
   * hold at most {@value #SMALL_HELD} windows and slots, nothing else waits for the server's thread
   * and no other thread uses the state. Else like {@link #release}. It saves two wake-ups of
   * threads. Any thread; it does not wait for others.
   */
  public void releaseSoon(long peer, long[] leaseIds, Runnable done) {
    RepeatedCommands.Command command = releaseCommand(peer, leaseIds, done);
    if (leaseIds.length > SMALL_LEASES
        || hasWork()
        || busy
        || ended
        || !tryRelease(command, leaseIds)) {
      submit(command);
    }
  }

  private RepeatedCommands.Command releaseCommand(long peer, long[] leaseIds, Runnable done) {
    return new RepeatedCommands.Command(
        () -> {
          releaseLeases(peer, leaseIds);
          done.run();
        });
  }

  /** Allocates nothing after an Error: the server's thread runs the command again. */
  private boolean tryRelease(RepeatedCommands.Command command, long[] leaseIds) {
    if (!state.tryLock()) {
      return false;
    }
    long deadlineNs;
    try {
      if (parts.leases().held(leaseIds) > SMALL_HELD) {
        return false;
      }
      command.run();
    } catch (Throwable e) {
      commands.onFailure(command, e, tickNs);
    } finally {
      try {
        deadlineNs = deadlines.nextNs();
      } finally {
        state.unlock();
      }
    }
    deadlines.onChange(deadlineNs);
    return true;
  }

  /**
   * The queue pair of a peer is destroyed: its leases end. Any thread. No LOCATE of this peer may
   * follow; each connection has a number of its own.
   */
  public void onPeerGone(long peer) {
    submit(new RepeatedCommands.Command(() -> parts.leases().onPeerGone(peer)));
  }

  /**
   * Unregisters a shuffle: its windows without leases are deregistered at once, the others when
   * their leases end. Any thread. To be called after the shuffle's files are gone, so that a late
   * LOCATE finds nothing to register again.
   *
   * @param done run when its last window is deregistered, at the latest when its last lease ends;
   *     with the server's lock, must not block
   */
  public void unregisterShuffle(int shuffleId, Runnable done) {
    PendingUnregistration pending = new PendingUnregistration(done);
    submit(
        new RepeatedCommands.Command(
            () -> {
              parts.outputs().unregister(shuffleId, pending);
              pending.onOutputGone();
            }));
  }

  private void releaseLeases(long peer, long[] leaseIds) {
    for (long leaseId : leaseIds) {
      if (!parts.leases().release(peer, leaseId)) {
        counters.increment(Counter.PROTOCOL_ERRORS);
      }
    }
  }

  private void submit(Runnable command) {
    commands.add(command);
    wakeUp();
  }

  private void wakeUp() {
    thread.wakeUp();
    if (ended) {
      drain();
    }
  }

  private static long until(OptionalLong deadlineNs, long nowNs) {
    return deadlineNs.isEmpty() ? MAX_SLEEP_NS : deadlineNs.getAsLong() - nowNs;
  }

  /**
   * Executes commands and a batch of LOCATEs, and removes expired leases. The server's thread;
   * after its end callers execute their commands themselves.
   *
   * @return number of executed commands and LOCATEs
   */
  int doWork() {
    busy = true;
    try {
      return work();
    } finally {
      busy = false;
    }
  }

  private int work() {
    int done = commands.executeAll(tickNs);
    LocateTask task = requests.poll();
    while (task != null) {
      steps.begin(task);
      done += 1 + commands.executeAll(tickNs);
      task = done < MAX_BATCH ? requests.poll() : null;
    }
    tickNs = nanoClock.getAsLong();
    commands.repeat(tickNs);
    commands.execute(expireLeases, tickNs);
    commands.execute(releaseIdle, tickNs);
    commands.execute(checkOpen, tickNs);
    commands.execute(continueShortage, tickNs);
    steps.handOver();
    return done;
  }

  private void expireLeases() {
    parts.leases().expire(tickNs);
  }

  private void releaseIdle() {
    parts.idle().release(tickNs);
  }

  private void checkOpen() {
    parts.locator().open().check(tickNs);
  }

  /** Logs an unexpected failure; never throws. */
  void log(Throwable e) {
    commands.log(e);
  }

  /**
   * Requests a turn of the server's thread, which needs the server's lock. Any thread; takes no
   * lock.
   *
   * @return number of turns so far: the same at each call while a call of the device hangs that has
   *     the lock
   */
  public long requestTurn() {
    thread.wakeUp();
    return thread.turns();
  }

  /** The thread that uses the server's state: its own, or a disk thread; for logs. Any thread. */
  public Thread stateUser() {
    Thread holder = state.holder();
    return holder == null ? thread.thread() : holder;
  }

  /** Whether commands or LOCATEs are waiting. Takes no lock. */
  boolean hasWork() {
    return !commands.isEmpty() || !requests.isEmpty();
  }

  /** Time until {@link #doWork} has something to do even if no command is received. */
  long untilNextDeadlineNs() {
    state.lock();
    try {
      return untilNextDeadlineNs(nanoClock.getAsLong());
    } finally {
      state.unlock();
    }
  }

  private long untilNextDeadlineNs(long nowNs) {
    long untilNs =
        Math.min(
            until(parts.leases().nextDeadlineNs(), nowNs),
            Math.min(
                until(parts.idle().nextDeadlineNs(), nowNs),
                until(commands.nextDeadlineNs(), nowNs)));
    return Math.min(untilNs, until(parts.locator().open().nextDeadlineNs(), nowNs));
  }

  /** Time by the server's clock. */
  long nowNs() {
    return nanoClock.getAsLong();
  }

  /** Deadlines of the server's thread, for other threads that locate blocks. */
  private final class ThreadDeadlines implements LocateSteps.Deadlines {
    @Override
    public long nextNs() {
      try {
        long nowNs = nanoClock.getAsLong();
        return nowNs + untilNextDeadlineNs(nowNs);
      } catch (Throwable e) {
        // The server's thread will find out.
        return thread.beforeWakeNs();
      }
    }

    @Override
    public void onChange(long nextNs) {
      thread.onDeadline(nextNs);
    }
  }

  private void drain() {
    while (doWork() > 0) {
      // More commands may have been submitted.
    }
  }

  /** Ends the work, also after an Error; a second call does nothing. */
  void shutDown() {
    if (ended) {
      return;
    }
    budget.onShortage(lengthBytes -> {});
    commands.execute(parts.locator()::stop, tickNs);
    drain();
    // Reads into slots and registrations must have ended before their memory is unmapped.
    diskThreads.close();
    commands.execute(parts.locator().open()::abortAgain, tickNs);
    state.lock();
    try {
      parts.close();
      ended = true;
    } finally {
      state.unlock();
    }
    drain();
  }

  /**
   * Executes the submitted commands, then deregisters everything, leased or not: from then on a
   * peer's READ fails. Returns when that is done, or with a warning after {@link #CLOSE_LIMIT}; the
   * server's thread then goes on, see {@link #hasEnded}. A second close does nothing more.
   */
  @Override
  public void close() {
    close(CLOSE_LIMIT);
  }

  /** The same with another limit. */
  public void close(Duration limit) {
    thread.close(limit);
  }

  /** Whether everything is deregistered, and no thread uses registered memory any more. */
  public boolean hasEnded() {
    return ended;
  }
}
