// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * The thread that owns the completion queue, the connection manager and the state of all peers. It
 * only blocks on its completion channel. Of Spark it calls the listener that receives blocks.
 *
 * <p>While answers or READs are outstanding, it polls for a short time before it sleeps; an
 * executor that only serves does not. Other threads submit commands. {@link #doWork} is one
 * iteration, which tests may call directly.
 */
final class TransportAgent implements Runnable, CompletionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(TransportAgent.class);
  private static final int COMPLETIONS_AT_ONCE = 256;
  private static final int EVENTS_AT_ONCE = 32;

  /**
   * Maximum number of queue pairs that events of one iteration create, which takes 1 to 3 ms each
   * on a card: many peers connect at once at the beginning of a stage. Then completions have their
   * turn, as between the ends of connections ({@link ConnectionEnds#MAX_PER_TURN}).
   */
  private static final int QUEUE_PAIRS_AT_ONCE = 4;

  /**
   * While it spins, only each n-th iteration polls for connection events, which is a system call,
   * and the completion queues of idle connections, which may be many.
   */
  static final int ITERATIONS_PER_FULL_POLL = 16;

  /** Time after which all completion queues are polled: an iteration may end four queue pairs. */
  private static final long MAX_POLL_INTERVAL_NS = 50_000;

  /** The agent's time between iterations is longer only when nothing is open, or in a pause. */
  private static final long PAUSE_NS = 100_000_000;

  private static final long REFUSE_SLEEP_NS = 5_000_000;

  private final TransportSettings settings;
  private final CompletionChannel channel;
  private final CompletionQueues completions;
  private final ConnectionManager manager;
  private final Owner owner;
  private final LongSupplier nanoClock;
  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private ConnectionTable table;
  private Peers peers;
  private Connector connector;
  private BlockServer server;
  private ConnectionTurns turns;
  private long nowNs;
  private long polledAllNs;
  private Consumer<Throwable> failed;
  private final long spinNs;
  private int iterations;

  /** Whether it has slept since the last iteration: any queue may have a completion. */
  private boolean woken;

  /** Whether the last iteration was the first one after a pause. */
  private boolean afterPause;

  /** Iterations so far, for {@link HangWatch}; written by the agent's thread only. */
  private final AtomicLong allIterations = new AtomicLong();

  private volatile boolean stopping;

  /** The failure that ended the agent; null before. */
  private volatile Throwable cause;

  /** Steps after a failure; created before it, because there may be no memory then. */
  private final Runnable logCause = this::logCause;

  private final Runnable reportCause = this::reportCause;
  private final Runnable stopPeers = this::stopPeers;
  private final Runnable endNext = this::endNext;
  private final Runnable answerCommands = this::runCommands;

  /** Whether all connections have ended, after the peers have stopped. */
  private boolean ended;

  TransportAgent(
      TransportSettings settings,
      CompletionChannel channel,
      CompletionQueues completions,
      ConnectionManager manager,
      Owner owner,
      LongSupplier nanoClock) {
    this.settings = settings;
    this.channel = channel;
    this.completions = completions;
    this.manager = manager;
    this.owner = owner;
    this.nanoClock = nanoClock;
    this.spinNs = settings.spin().toNanos();
    this.nowNs = nanoClock.getAsLong();
    this.polledAllNs = nowNs;
  }

  /**
   * Sets the objects it works on; called before {@link #run}.
   *
   * @param server has its turn in each iteration
   * @param control buffers of control messages
   * @param receive is deregistered when it is idle
   * @param onFailure receives the failure that ended the agent, on the agent's thread; must fail
   *     every outstanding block
   */
  void init(
      ConnectionTable connections,
      Peers allPeers,
      Connector connector,
      BlockServer blockServer,
      ControlBuffers control,
      ReceivePool receive,
      Consumer<Throwable> onFailure) {
    table = connections;
    peers = allPeers;
    this.connector = connector;
    server = blockServer;
    turns =
        new ConnectionTurns(settings, connections, allPeers, connector, control, receive, nowNs);
    failed = onFailure;
  }

  private long sleepNs() {
    return Math.max(1, Math.min(turns.sleepNs(), server.nextDeadlineNs() - nowNs));
  }

  /** Number of iterations so far. Safe for any thread. */
  long allIterations() {
    return allIterations.get();
  }

  /** Whether a failure has ended the agent. Safe for any thread. */
  boolean hasFailed() {
    return cause != null;
  }

  /** Runs a command on the agent's thread soon. Safe for any thread. */
  void execute(Runnable command) {
    commands.add(command);
    try {
      channel.wakeup();
    } catch (Throwable e) {
      // The command is submitted: a caller that repeats it would run it twice. The agent sleeps for
      // a second at most.
    }
  }

  /**
   * Runs commands submitted after the agent's thread ended. Safe for any thread; one at a time has
   * the agent's state. The lock is taken before all others.
   */
  synchronized void drain() {
    runCommands();
  }

  /** Drains it, then runs {@code last}, which frees memory that commands use. */
  synchronized void drainThen(Runnable last) {
    runCommands();
    last.run();
  }

  /** Requests the end of {@link #run}, which answers all blocks first. Safe for any thread. */
  void stop() {
    stopping = true;
    channel.wakeup();
  }

  @Override
  public void run() {
    owner.take();
    long idleSinceNs = nanoClock.getAsLong();
    while (!stopping) {
      try {
        if (spin() > 0) {
          idleSinceNs = nowNs;
        } else if (!turns.isFetching() || nowNs - idleSinceNs > spinNs) {
          completions.arm();
          if (doWork() == 0) {
            channel.await(sleepNs());
            woken = true;
          }
        } else {
          Thread.onSpinWait();
        }
      } catch (Exception | LinkageError e) {
        // Other Errors end the executor: Spark's handler of uncaught ones does that.
        refuseUntilStopped(e);
      }
    }
    while (!commands.isEmpty()) {
      guarded(answerCommands);
    }
    guarded(stopPeers);
    endConnections();
    owner.release();
  }

  /** Fails every block after an unexpected failure, later ones too. */
  private void refuseUntilStopped(Throwable failure) {
    cause = failure;
    guarded(logCause);
    guarded(stopPeers);
    guarded(reportCause);
    endConnections();
    while (!stopping) {
      guarded(answerCommands);
      LockSupport.parkNanos(this, REFUSE_SLEEP_NS);
    }
  }

  private void logCause() {
    LOG.error("Transport agent failed; blocks use TCP until RDMA is started again", cause);
  }

  private void reportCause() {
    failed.accept(cause);
  }

  private void stopPeers() {
    peers.stop();
  }

  /** Blocks that are handed in meanwhile do not wait for the rest. */
  private void endConnections() {
    while (!ended) {
      guarded(endNext);
      guarded(answerCommands);
    }
  }

  private void endNext() {
    ended = !peers.endNext();
  }

  private static void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      log(e);
    }
  }

  private static void log(Throwable e) {
    try {
      LOG.error("Unexpected failure while the transport agent stops", e);
    } catch (Throwable noMemory) {
      // The next step answers other blocks all the same.
    }
  }

  /** One iteration that polls everything; returns the amount of work done. */
  int doWork() {
    return iterate(true);
  }

  /** One iteration while it spins; as {@link #doWork}. */
  int spin() {
    return iterate(iterations % ITERATIONS_PER_FULL_POLL == 0);
  }

  private int iterate(boolean pollEverything) {
    iterations++;
    allIterations.lazySet(allIterations.getPlain() + 1);
    long lastNs = nowNs;
    nowNs = nanoClock.getAsLong();
    afterPause = !afterPause && nowNs - lastNs > PAUSE_NS;
    int work = runCommands();
    if (pollEverything) {
      work += handleEvents();
    }
    if (pollEverything || woken || nowNs - polledAllNs >= MAX_POLL_INTERVAL_NS) {
      woken = false;
      polledAllNs = nowNs;
      work += completions.poll(COMPLETIONS_AT_ONCE, this);
    } else {
      work += completions.pollBusy(COMPLETIONS_AT_ONCE, this);
    }
    if (afterPause) {
      // This JVM may have paused: what has come meanwhile counts before anything expires.
      return work + 1 + pollAll();
    }
    work += server.doWork(nowNs);
    return work + turns.run(nowNs);
  }

  private int pollAll() {
    int all = 0;
    int polled = completions.poll(COMPLETIONS_AT_ONCE, this);
    while (polled > 0) {
      all += polled;
      polled = completions.poll(COMPLETIONS_AT_ONCE, this);
    }
    return all;
  }

  private int handleEvents() {
    int events = 0;
    int queuePairs = 0;
    while (events < EVENTS_AT_ONCE && queuePairs < QUEUE_PAIRS_AT_ONCE) {
      ConnectionEvent event = manager.pollEvent();
      if (event == null) {
        return events;
      }
      connector.onEvent(event, nowNs);
      events++;
      queuePairs += Connector.createsQueuePair(event) ? 1 : 0;
    }
    // More may be waiting: the next iteration polls, too.
    iterations = 0;
    return events;
  }

  private int runCommands() {
    int work = 0;
    Runnable command = commands.poll();
    while (command != null) {
      command.run();
      work++;
      command = commands.poll();
    }
    return work;
  }

  @Override
  public void onCompletion(WorkCompletion completion) {
    PeerConnection connection = table.at(WorkIds.index(completion.requestId()));
    if (connection != null) {
      connection.onCompletion(completion, nowNs);
    }
  }
}
