// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * The thread that owns the completion queues, the connection manager, all connections and receive
 * memory. It only blocks on its completion channel. Other threads submit commands.
 *
 * <p>It spins only while it expects an answer sooner than a wake-up costs, and not while it gets no
 * processor in time; otherwise it sleeps at once. {@link #doWork} is one iteration.
 */
final class Agent implements Runnable {
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

  private final AgentCommands commands;
  private final CompletionQueues completions;
  private final ConnectionManager manager;
  private final Connections connections;
  private final LongSupplier nanoClock;

  /** Receives the reason why RDMA is lost; it fails all open blocks. */
  private final Consumer<String> onLost;

  private final AtomicLong turns = new AtomicLong();

  private ConnectionResources context;
  private Peers peers;
  private int untilEvents;
  private long nowNs;
  private long shortTickNs;
  private long tickNs;
  private long trimNs;
  private long noSpinUntilNs;
  private boolean stopping;

  Agent(
      AgentCommands commands,
      CompletionQueues completions,
      ConnectionManager manager,
      Connections connections,
      LongSupplier nanoClock,
      Consumer<String> onLost) {
    this.commands = commands;
    this.completions = completions;
    this.manager = manager;
    this.connections = connections;
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

  /** Number of iterations so far. Safe for any thread. */
  long turns() {
    return turns.get();
  }

  /** Requests the end of {@link #run}. Safe for any thread. */
  void stop() {
    commands.execute(() -> stopping = true);
  }

  @Override
  public void run() {
    connections.owner().take();
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
      connections.owner().release();
    }
  }

  /** One iteration; returns the amount of work done. */
  int doWork() {
    nowNs = nanoClock.getAsLong();
    connections.begin(nowNs);
    turns.lazySet(turns.getPlain() + 1);
    int work = commands.run();
    if (--untilEvents <= 0) {
      work += handleEvents();
    }
    work += completions.poll(COMPLETIONS_AT_ONCE, connections);
    work += context.server().doWork(nowNs);
    work += connections.serveShortOfBuffers();
    context.sinks().check(nowNs);
    work += context.window().serve();
    work += peers.connect(nowNs);
    work += connections.endBroken(QUEUE_PAIRS_AT_ONCE);
    if (nowNs - shortTickNs >= SHORT_TICK_NS) {
      shortTickNs = nowNs;
      connections.releaseLeases();
    }
    if (nowNs - tickNs >= TICK_NS) {
      onTick();
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

  private void onTick() {
    boolean paused = nowNs - tickNs > PAUSE_NS;
    tickNs = nowNs;
    if (!paused) {
      // Otherwise answers may have come meanwhile: they are polled first.
      peers.onTick(nowNs);
      connections.onTick();
    }
    // Memory may have become free without an answer that was sent.
    connections.onAnswerBufferFree();
    if (nowNs - trimNs >= context.settings().idleTimeout().toNanos()) {
      trimNs = nowNs;
      peers.dropUnused(nowNs);
      completions.trim();
      context.messageBuffers().trim();
      context.sinks().markIdle();
    }
    context.sinks().trimIdle(SLABS_AT_ONCE);
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
      commands.await(sleepNs());
    }
  }

  private boolean spins() {
    return connections.expectsSoon(WAKE_UP_NS) && nowNs - noSpinUntilNs >= 0;
  }

  private long sleepNs() {
    boolean soon =
        connections.hasReleasing() || context.sinks().hasWaiters() || peers.awaitsAttempt();
    long ownNs = soon ? SHORT_TICK_NS : connections.isEmpty() ? IDLE_SLEEP_NS : TICK_NS;
    return Math.min(ownNs, context.server().nextDeadlineNs() - nowNs);
  }

  /** RDMA is lost: the device cannot be used any more. */
  void lose(String reason) {
    onLost.accept(reason);
  }
}
