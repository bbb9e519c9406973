// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * The thread that owns the completion queues, the connection manager, all connections and receive
 * memory. It waits on its completion channel only, where commands of other threads ({@link
 * AgentWork}), events and completions wake it; a pool of receive memory or of messages that grows
 * or shrinks makes its call of the device here.
 *
 * <p>It spins only while it expects an answer sooner than a wake-up costs, and not while it gets no
 * processor in time; otherwise it sleeps at once. {@link #doWork} is one iteration.
 *
 * <p>After an exception RDMA is lost, and blocks use TCP; an Error goes to Spark's handler of
 * uncaught exceptions, which ends the executor.
 */
final class Agent implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Agent.class);
  private static final int COMPLETIONS_AT_ONCE = 256;

  /**
   * Maximum number of queue pairs that one iteration destroys, 1 to 3 ms each on a card; then
   * completions have their turn. Where the device takes long, it is one.
   */
  private static final int QUEUE_PAIRS_AT_ONCE = 4;

  /** Maximum number of regions of receive memory that one tick deregisters; of messages, below. */
  private static final int REGIONS_AT_ONCE = 8;

  /** These are shorter. */
  private static final int MESSAGE_REGIONS_AT_ONCE = 32;

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

  private final AgentResources shared;
  private final AgentWork work;
  private final LongSupplier nanoClock;
  private final FetchPeers fetchPeers;
  private final ConnectAttempts attempts;
  private final ConnectionEvents events;
  private final BlockServer server;

  /** Gets the reason why RDMA is lost, and leaves all open blocks to TCP. */
  private final Consumer<String> onLost;

  /** Time for which the last turn has planned to sleep. */
  private long plannedNs;

  private long waitsNs;
  private final AtomicLong turns = new AtomicLong();

  /** The turn in which it hangs or has hung. */
  private volatile long hungTurn = -1;

  private long nowNs;
  private long shortTickNs;
  private long tickNs;

  /** Whether the last tick was left out, after a pause; never two in a row. */
  private boolean skipsTick;

  private long trimNs;
  private long noSpinUntilNs;
  private boolean stopping;

  Agent(
      AgentResources shared,
      ConnectionManager manager,
      FetchPeers fetchPeers,
      ServePeers servePeers,
      BlockServer server,
      Consumer<String> onLost) {
    this.shared = shared;
    this.work = shared.work();
    this.nanoClock = shared.device().nanoClock();
    this.fetchPeers = fetchPeers;
    this.attempts = fetchPeers.attempts();
    this.events = new ConnectionEvents(manager, attempts, servePeers, onLost);
    this.server = server;
    this.onLost = onLost;
    this.nowNs = nanoClock.getAsLong();
    this.noSpinUntilNs = nowNs;
    this.waitsNs = nowNs;
    this.shortTickNs = nowNs;
    this.tickNs = nowNs;
    this.trimNs = nowNs;
  }

  /** Number of iterations so far. Safe for any thread. */
  long turns() {
    return turns.get();
  }

  /** It has been in one call of the device for seconds, in this turn. Safe for any thread. */
  void markHung(long turn) {
    hungTurn = turn;
  }

  /** Whether it is in a call of the device that takes seconds. Safe for any thread. */
  boolean hangs() {
    return turns.get() == hungTurn;
  }

  /** Requests the end of {@link #run}. Safe for any thread. */
  void stop() {
    work.execute(() -> stopping = true);
  }

  @Override
  public void run() {
    work.agentThread().take();
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
      work.agentThread().leave();
    }
  }

  /** One iteration; returns the amount of work done. */
  int doWork() {
    long lastNs = nowNs;
    nowNs = nanoClock.getAsLong();
    long lateNs = nowNs - lastNs - plannedNs - WaitBudget.CHECK_NS;
    plannedNs = 0;
    work.beginIteration(nowNs);
    if (lateNs > 0) {
      fetchPeers.onLate(lateNs);
      shared.receiveMemory().onLate(lateNs);
    }
    turns.lazySet(turns.getPlain() + 1);
    int done = work.runCommands();
    done += events.handle(nowNs);
    done += shared.queuePairs().giveTurns();
    done += shared.completions().poll(COMPLETIONS_AT_ONCE, Agent::onCompletion);
    if (nowNs - waitsNs >= WaitBudget.CHECK_NS) {
      waitsNs = nowNs;
      fetchPeers.checkWaits(nowNs);
    }
    done += server.doWork(nowNs);
    done += work.serveShortOfBuffers();
    shared.receiveMemory().check(nowNs);
    done += shared.readLimit().serve();
    done += attempts.connect(nowNs);
    done += destroyBroken();
    if (nowNs - shortTickNs >= SHORT_TICK_NS) {
      shortTickNs = nowNs;
      work.releaseLeases();
    }
    if (nowNs - tickNs >= TICK_NS) {
      onTick();
    }
    return done;
  }

  /** Destroys connections that are broken, as many as a turn has time for. */
  private int destroyBroken() {
    int ended = 0;
    while (ended < QUEUE_PAIRS_AT_ONCE
        && (ended == 0 || nanoClock.getAsLong() - nowNs < SHORT_TICK_NS)
        && work.destroyBroken()) {
      ended++;
    }
    return ended;
  }

  private static void onCompletion(WorkCompletion completion) {
    ((MessageConnection) completion.attachment()).onCompletion(completion);
  }

  private void onTick() {
    skipsTick = !skipsTick && nowNs - tickNs > PAUSE_NS;
    tickNs = nowNs;
    if (!skipsTick) {
      // After a pause answers may have come meanwhile: they are polled before the next tick.
      fetchPeers.onTick(nowNs);
      work.onTick();
    }
    // Memory may have become free without an answer that was sent.
    work.onAnswerBufferFree();
    if (nowNs - trimNs >= shared.settings().idleTimeout().toNanos()) {
      trimNs = nowNs;
      fetchPeers.dropUnused(nowNs);
      shared.completions().trim();
      shared.messageBuffers().markIdle();
      shared.receiveMemory().markIdle();
    }
    shared.messageBuffers().trimIdle(MESSAGE_REGIONS_AT_ONCE);
    shared.receiveMemory().trimIdle(REGIONS_AT_ONCE);
  }

  private void idle() {
    if (work.expectsSoon(WAKE_UP_NS) && nowNs - noSpinUntilNs >= 0) {
      long beforeNs = nowNs;
      Thread.onSpinWait();
      if (nanoClock.getAsLong() - beforeNs > DESCHEDULED_NS) {
        noSpinUntilNs = beforeNs + NO_SPIN_NS;
      }
      return;
    }
    shared.completions().arm();
    events.handleNext();
    if (doWork() == 0) {
      plannedNs = sleepNs();
      work.await(plannedNs);
    }
  }

  private long sleepNs() {
    boolean soon =
        work.hasReleasing() || shared.receiveMemory().hasWaiters() || attempts.hasWaiters();
    long ownNs = work.connections() == 0 ? IDLE_SLEEP_NS : TICK_NS;
    ownNs = soon ? SHORT_TICK_NS : fetchPeers.hasOpenWaits() ? WaitBudget.CHECK_NS : ownNs;
    return Math.min(ownNs, server.nextDeadlineNs() - nowNs);
  }
}
