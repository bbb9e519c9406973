// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Answers the LOCATEs of all peers.
 *
 * <p>Other threads submit commands and never block. The server's thread executes them, see {@link
 * ServerWork}: releases and ends of peers first, then LOCATEs as far as they need no disk. The
 * agent's thread executes small ones itself, see {@link ImmediateAnswers}. A LOCATE that needs a
 * disk continues on a thread of that disk, see {@link LocateSteps} and {@link DiskThreads}. All of
 * them hold {@link StateLock} while they use windows, slots, leases and indexes. The server's
 * thread sleeps until the next command or deadline. The runtime constructs it, starts it, and
 * closes it after the transport and before the protection domain.
 *
 * <p>A LOCATE of a closed connection is dropped. Blocks that have waited too long for a disk, see
 * {@link LoadLimits}, are answered with {@link Located.Kind#OVERLOADED} by the server's thread, so
 * that overload ends, and a disk that hangs too. Blocks of one LOCATE on different disks do not
 * wait for each other: an answer leaves out those of a slow disk. The queues need no bound of their
 * own: a connection has a bounded number of open requests.
 *
 * <p>An answer may end early: because the message is full, because one answer has registered or
 * located {@value PiecePlacer#MAX_ANSWER_BYTES} bytes, or because the budget is full of leases,
 * this answer's own among them, or all slots are used and the kernel would write a registered
 * window to its disk again. It then has at least one piece, and the reader requests the rest again.
 */
public final class BlockServer implements AutoCloseable {
  /** Minimum length of an answer buffer: one piece with one checksum. */
  public static final int MIN_ANSWER_BYTES =
      Located.HEADER_BYTES + Located.PIECE_BYTES + Located.SUM_BYTES;

  /** Maximum wait of {@link #close} for a disk that hangs. */
  public static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

  private final StateLock state;
  private final LongSupplier nanoClock;
  private final long maxWaitNs;
  private final ShuffleCounters counters;
  private final ServingParts parts;
  private final ServerDeadlines deadlines;
  private final ServerWork work;
  private final ImmediateAnswers immediate;
  private final ServerThread thread;

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
    this(parameters, diskQueues, probeClock, state, new SystemFiles(Path.of("/")));
  }

  /**
   * @param files of this machine; other ones in tests
   */
  BlockServer(
      ServerParameters parameters,
      List<DiskQueue> diskQueues,
      LongSupplier probeClock,
      StateLock state,
      SystemFiles files) {
    this.state = state;
    nanoClock = parameters.nanoClock();
    maxWaitNs = LoadLimits.of(parameters.requestTimeout()).maxWaitNs();
    counters = parameters.counters();
    DiskThreads diskThreads = new DiskThreads();
    int count = parameters.outputs().disks();
    List<DiskQueue> disks = diskQueues != null ? diskQueues : diskThreads.open(count, nanoClock);
    parts = ServingParts.create(parameters, disks, state, probeClock, files);
    ServerCommands commands = new ServerCommands(state);
    ServerSleep sleep = new ServerSleep();
    deadlines = new ServerDeadlines(parts, commands, sleep, state, nanoClock);
    LocateSteps steps = new LocateSteps(parts.locator(), disks, state, deadlines);
    work =
        new ServerWork(
            parts, steps, commands, sleep, diskThreads, parameters.budget(), state, nanoClock);
    immediate = new ImmediateAnswers(work, steps, parts.leases(), commands, deadlines, state);
    thread = new ServerThread(work, deadlines, sleep);
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
    work.submit(new LocateTask(call, receivedNs));
  }

  /**
   * Answers a LOCATE of at most {@value ImmediateAnswers#MAX_BLOCKS} blocks before it returns, when
   * they need no disk and {@link ImmediateAnswers} may do so. Else like {@link #locate(LocateCall,
   * long)}. Any thread; it does not wait for other LOCATEs.
   */
  public void locateSoon(LocateCall call, long receivedNs) {
    checkAnswer(call);
    LocateTask task = new LocateTask(call, receivedNs);
    if (!immediate.tryLocate(task)) {
      work.submit(task);
    }
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
    work.submit(releaseCommand(peer, leaseIds, done));
  }

  /**
   * Releases leases of a peer before it returns, when they are at most {@value
   * ImmediateAnswers#MAX_LEASES}, hold at most {@value ImmediateAnswers#MAX_HELD} windows and
   * slots, and {@link ImmediateAnswers} may do so. Else like {@link #release}. Any thread; it does
   * not wait for others.
   */
  public void releaseSoon(long peer, long[] leaseIds, Runnable done) {
    RepeatedCommands.Command command = releaseCommand(peer, leaseIds, done);
    if (!immediate.tryRelease(command, leaseIds)) {
      work.submit(command);
    }
  }

  private RepeatedCommands.Command releaseCommand(long peer, long[] leaseIds, Runnable done) {
    return new RepeatedCommands.Command(
        () -> {
          releaseLeases(peer, leaseIds);
          done.run();
        });
  }

  private void releaseLeases(long peer, long[] leaseIds) {
    for (long leaseId : leaseIds) {
      if (!parts.leases().release(peer, leaseId)) {
        counters.increment(Counter.PROTOCOL_ERRORS);
      }
    }
  }

  /**
   * The queue pair of a peer is destroyed: its leases end. Any thread. No LOCATE of this peer may
   * follow; each connection has a number of its own.
   */
  public void onPeerGone(long peer) {
    work.submit(new RepeatedCommands.Command(() -> parts.leases().onPeerGone(peer)));
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
    work.submit(
        new RepeatedCommands.Command(
            () -> {
              parts.outputs().unregister(shuffleId, pending);
              pending.onOutputGone();
            }));
  }

  /**
   * Requests a turn of the server's thread, which needs the server's lock. Any thread; takes no
   * lock.
   *
   * @return number of turns so far: the same at each call while a call of the device hangs that has
   *     the lock
   */
  public long requestTurn() {
    return thread.requestTurn();
  }

  /** The thread that uses the server's state: its own, or a disk thread; for logs. Any thread. */
  public Thread stateUser() {
    Thread holder = state.holder();
    return holder == null ? thread.thread() : holder;
  }

  /** {@link ServerWork#doWork}, for a server whose thread was not started. */
  int doWork() {
    return work.doWork();
  }

  /** Whether commands or LOCATEs are waiting. Takes no lock. */
  boolean hasWork() {
    return work.hasWork();
  }

  /** Time until {@link #doWork} has something to do even if no command is received. */
  long untilNextDeadlineNs() {
    return deadlines.untilNextNs();
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
    return work.hasEnded();
  }
}
