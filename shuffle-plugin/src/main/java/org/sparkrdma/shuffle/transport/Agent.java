// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * The thread that owns the completion queues, the connection manager, all connections and receive
 * memory. It only blocks on its completion channel. Other threads submit commands.
 *
 * <p>It spins only while it expects an answer sooner than a wake-up costs, and not while it gets no
 * processor in time; otherwise it sleeps at once. {@link #doWork} is one iteration.
 */
final class Agent implements Runnable, CompletionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Agent.class);
  private static final int COMPLETIONS_AT_ONCE = 256;
  private static final int EVENTS_AT_ONCE = 32;

  /**
   * Maximum number of queue pairs that one iteration creates, and that it destroys. Either takes 1
   * to 3 ms each on a card; then completions have their turn.
   */
  private static final int QUEUE_PAIRS_AT_ONCE = 4;

  /** Maximum number of regions of receive memory that one tick deregisters. */
  private static final int SLABS_AT_ONCE = 8;

  /** Polling for connection events is a system call: only each n-th iteration does it. */
  private static final int ITERATIONS_PER_EVENTS = 16;

  private static final long SHORT_TICK_NS = 5_000_000;
  private static final long TICK_NS = 100_000_000;
  private static final long IDLE_SLEEP_NS = 1_000_000_000;

  /** A tick that comes so late follows a pause of the process. */
  private static final long PAUSE_NS = 5 * TICK_NS;

  /** About what a wake-up by the system costs. */
  private static final long WAKE_UP_NS = 50_000;

  /** An iteration that spins and takes longer has waited for a processor. */
  private static final long DESCHEDULED_NS = 1_000_000;

  private static final long NO_SPIN_NS = 100_000_000;

  private final CompletionChannel channel;
  private final CompletionQueues completions;
  private final ConnectionManager manager;
  private final LongSupplier nanoClock;
  private final Owner owner;

  /** Receives the reason why RDMA is lost; it fails all open blocks. */
  private final Consumer<String> onLost;

  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final AtomicLong turns = new AtomicLong();

  /** Connections by their index; null for free ones. */
  private final List<RdmaConnection> table = new ArrayList<>();

  private final ArrayDeque<RdmaConnection> broken = new ArrayDeque<>();
  private final ArrayDeque<ReadConnection> releasing = new ArrayDeque<>();
  private final ArrayDeque<ServeConnection> shortOfBuffers = new ArrayDeque<>();
  private ConnectionResources context;
  private Peers peers;
  private boolean answerBufferFree;
  private int untilEvents;
  private long nowNs;
  private long shortTickNs;
  private long tickNs;
  private long trimNs;
  private long askedNs;
  private long answerNs;
  private boolean expectsCompletion;
  private long noSpinUntilNs;
  private volatile boolean stopping;

  Agent(
      CompletionChannel channel,
      CompletionQueues completions,
      ConnectionManager manager,
      Owner owner,
      LongSupplier nanoClock,
      Consumer<String> onLost) {
    this.channel = channel;
    this.completions = completions;
    this.manager = manager;
    this.owner = owner;
    this.nanoClock = nanoClock;
    this.onLost = onLost;
    this.nowNs = nanoClock.getAsLong();
    this.noSpinUntilNs = nowNs;
    this.shortTickNs = nowNs;
    this.tickNs = nowNs;
    this.trimNs = nowNs;
  }

  /** Sets the objects it works on; before {@link #run}. */
  void init(ConnectionResources shared, Peers allPeers) {
    context = shared;
    peers = allPeers;
  }

  Peers peers() {
    return peers;
  }

  /** Time of this iteration. */
  long nowNs() {
    return nowNs;
  }

  /** Number of iterations so far. Safe for any thread. */
  long turns() {
    return turns.get();
  }

  /** Runs a command on the agent's thread soon. Safe for any thread. */
  void execute(Runnable command) {
    commands.add(command);
    channel.wakeup();
  }

  /** Runs the commands that are left. After the end of {@link #run}. */
  void drain() {
    runCommands();
  }

  /** Requests the end of {@link #run}. Safe for any thread. */
  void stop() {
    stopping = true;
    channel.wakeup();
  }

  @Override
  public void run() {
    owner.take();
    try {
      while (!stopping) {
        if (doWork() == 0) {
          idle();
        }
      }
    } catch (Exception | LinkageError e) {
      LOG.error("Transport agent failed; blocks use TCP until RDMA is started again", e);
      onLost.accept("the transport agent failed: " + e);
    } finally {
      owner.release();
    }
  }

  /** One iteration; returns the amount of work done. */
  int doWork() {
    nowNs = nanoClock.getAsLong();
    turns.lazySet(turns.getPlain() + 1);
    int work = runCommands();
    if (--untilEvents <= 0) {
      work += handleEvents();
    }
    work += completions.poll(COMPLETIONS_AT_ONCE, this);
    work += context.server().doWork(nowNs);
    work += serveShortOfBuffers();
    context.sinks().check(nowNs);
    work += context.window().serve();
    work += peers.connect(nowNs);
    work += endBroken();
    if (nowNs - shortTickNs >= SHORT_TICK_NS) {
      onShortTick();
    }
    if (nowNs - tickNs >= TICK_NS) {
      onTick();
    }
    return work;
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

  private int handleEvents() {
    int events = 0;
    int queuePairs = 0;
    while (events < EVENTS_AT_ONCE && queuePairs < QUEUE_PAIRS_AT_ONCE) {
      ConnectionEvent event = manager.pollEvent();
      if (event == null) {
        untilEvents = ITERATIONS_PER_EVENTS;
        return events;
      }
      peers.onEvent(event, nowNs);
      events++;
      queuePairs += Peers.createsQueuePair(event) ? 1 : 0;
    }
    return events;
  }

  @Override
  public void onCompletion(WorkCompletion completion) {
    int index = SendQueue.connectionIndex(completion.requestId());
    RdmaConnection connection = index < table.size() ? table.get(index) : null;
    if (connection != null) {
      connection.onCompletion(completion, nowNs);
    }
  }

  private int serveShortOfBuffers() {
    int waiting = answerBufferFree ? shortOfBuffers.size() : 0;
    answerBufferFree = false;
    for (int i = 0; i < waiting; i++) {
      shortOfBuffers.poll().takeDeferred(nowNs);
    }
    return waiting;
  }

  private int endBroken() {
    int ended = 0;
    while (ended < QUEUE_PAIRS_AT_ONCE && !broken.isEmpty()) {
      broken.poll().destroy();
      ended++;
    }
    return ended;
  }

  private void onShortTick() {
    shortTickNs = nowNs;
    for (int i = releasing.size(); i > 0; i--) {
      ReadConnection next = releasing.poll();
      if (!next.releaseLeases(nowNs)) {
        releasing.add(next);
      }
    }
  }

  private void onTick() {
    boolean paused = nowNs - tickNs > PAUSE_NS;
    tickNs = nowNs;
    if (!paused) {
      // Otherwise answers may have come meanwhile: they are polled first.
      checkDeadlines();
    }
    // Memory may have become free without an answer that was sent.
    answerBufferFree = true;
    if (nowNs - trimNs >= context.settings().idleTimeout().toNanos()) {
      trimNs = nowNs;
      peers.dropUnused(nowNs);
      completions.trim();
      context.messageBuffers().trim();
      context.sinks().markIdle();
    }
    context.sinks().trimIdle(SLABS_AT_ONCE);
  }

  private void checkDeadlines() {
    peers.onTick(nowNs);
    for (int i = 0; i < table.size(); i++) {
      RdmaConnection connection = table.get(i);
      if (connection != null && !connection.hasEnded()) {
        connection.onTick(nowNs);
      }
    }
  }

  private void idle() {
    if (spins()) {
      long beforeNs = nowNs;
      Thread.onSpinWait();
      if (nanoClock.getAsLong() - beforeNs > DESCHEDULED_NS) {
        noSpinUntilNs = beforeNs + NO_SPIN_NS;
      }
      return;
    }
    completions.arm();
    untilEvents = 0;
    if (doWork() == 0) {
      channel.await(sleepNs());
    }
  }

  private boolean spins() {
    return expectsCompletion
        && answerNs < WAKE_UP_NS
        && nowNs - askedNs < 2 * WAKE_UP_NS
        && nowNs - noSpinUntilNs >= 0;
  }

  private long sleepNs() {
    boolean soon = !releasing.isEmpty() || context.sinks().hasWaiters() || peers.awaitsAttempt();
    long ownNs = soon ? SHORT_TICK_NS : table.isEmpty() ? IDLE_SLEEP_NS : TICK_NS;
    return Math.min(ownNs, context.server().nextDeadlineNs() - nowNs);
  }

  /** Work was posted whose completion or answer is expected. */
  void expectCompletion(long postedNs) {
    askedNs = postedNs;
    expectsCompletion = true;
  }

  /** An answer came after so long. */
  void onLocated(long afterNs) {
    answerNs += (afterNs - answerNs) / 8;
    expectsCompletion = false;
  }

  /** Adds a connection; returns its index. */
  int add(RdmaConnection connection) {
    int free = table.indexOf(null);
    if (free >= 0) {
      table.set(free, connection);
      return free;
    }
    table.add(connection);
    return table.size() - 1;
  }

  void remove(RdmaConnection connection) {
    table.set(connection.index(), null);
    while (!table.isEmpty() && table.get(table.size() - 1) == null) {
      table.remove(table.size() - 1);
    }
  }

  /** A connection is to be destroyed in this iteration or a later one. */
  void addBroken(RdmaConnection connection) {
    broken.add(connection);
  }

  /** A connection has leases to release soon. */
  void addReleasing(ReadConnection connection) {
    releasing.add(connection);
  }

  /** A connection has requests without buffers for their answers. */
  void addShortOfBuffers(ServeConnection connection) {
    if (!shortOfBuffers.contains(connection)) {
      shortOfBuffers.add(connection);
    }
  }

  /** The buffer of an answer is free. */
  void onAnswerBufferFree() {
    answerBufferFree = true;
  }

  /** RDMA is lost: the device cannot be used any more. */
  void lose(String reason) {
    onLost.accept(reason);
  }

  /** Connections that are not destroyed. For tests, on the agent's thread. */
  int connections() {
    return (int) table.stream().filter(connection -> connection != null).count();
  }

  /** Destroys all connections. The closer's thread, after the agent has ended. */
  void destroyAll() {
    for (RdmaConnection connection : table.stream().filter(c -> c != null).toList()) {
      connection.markBroken(null, "executor stops");
      connection.destroy();
    }
    broken.clear();
    runCommands();
  }
}
