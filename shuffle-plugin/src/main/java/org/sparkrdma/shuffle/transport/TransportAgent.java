// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.thread.Owner;
import org.sparkrdma.verbs.CompletionChannel;
import org.sparkrdma.verbs.CompletionHandler;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * The thread that owns the completion queue, the connection manager and the state of all peers. It
 * never calls Spark and only blocks on its completion channel.
 *
 * <p>While answers or READs are outstanding, it polls for a short time before it sleeps; an
 * executor that only serves does not. Other threads submit commands. {@link #doWork} is one
 * iteration, which tests may call directly.
 */
final class TransportAgent implements Runnable, CompletionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(TransportAgent.class);
  private static final int COMPLETIONS_AT_ONCE = 256;
  private static final long TICK_NS = 5_000_000;
  private static final long SHORT_OF_MEMORY_SLEEP_NS = 1_000_000;
  private static final long BUSY_SLEEP_NS = 20_000_000;
  private static final long IDLE_SLEEP_NS = 1_000_000_000;
  private static final long REFUSE_SLEEP_NS = 5_000_000;
  private static final long DROP_INTERVAL_NS = 1_000_000_000;

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
  private long nowNs;
  private Runnable trimUnused;
  private Consumer<Throwable> failed;
  private long tickedNs;
  private long trimmedNs;
  private long droppedNs;
  private boolean fetching;
  private volatile boolean stopping;

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
    this.nowNs = nanoClock.getAsLong();
    this.tickedNs = nowNs;
    this.trimmedNs = nowNs;
    this.droppedNs = nowNs;
  }

  /**
   * Sets the objects it works on; called before {@link #run}.
   *
   * @param trimUnusedMemory run at intervals of the idle time-out
   * @param onFailure receives the failure that ended the agent, on the agent's thread; must fail
   *     every outstanding block
   */
  void init(
      ConnectionTable connections,
      Peers allPeers,
      Connector connector,
      Runnable trimUnusedMemory,
      Consumer<Throwable> onFailure) {
    table = connections;
    peers = allPeers;
    this.connector = connector;
    trimUnused = trimUnusedMemory;
    failed = onFailure;
  }

  /** Runs a command on the agent's thread soon. Safe for any thread. */
  void execute(Runnable command) {
    commands.add(command);
    channel.wakeup();
  }

  /** Runs commands submitted after the agent's thread ended. Safe for any thread. */
  void drain() {
    runCommands();
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
        if (doWork() > 0) {
          idleSinceNs = nowNs;
        } else if (!fetching || nowNs - idleSinceNs > settings.spin().toNanos()) {
          completions.arm();
          if (doWork() == 0) {
            channel.await(sleepNs());
          }
        } else {
          Thread.onSpinWait();
        }
      } catch (Throwable e) {
        // Catches Errors too, so that no block waits for ever for a dead agent.
        refuseUntilStopped(e);
      }
    }
    while (!commands.isEmpty()) {
      guarded(this::runCommands);
    }
    guarded(peers::stop);
    owner.release();
  }

  /** After an unexpected failure: fails every block, including later ones. */
  private void refuseUntilStopped(Throwable cause) {
    guarded(() -> LOG.error("Transport agent failed; all further blocks use TCP", cause));
    guarded(peers::stop);
    guarded(() -> failed.accept(cause));
    while (!stopping) {
      guarded(this::runCommands);
      LockSupport.parkNanos(this, REFUSE_SLEEP_NS);
    }
  }

  private static void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      LOG.error("Unexpected failure while the transport agent stops", e);
    }
  }

  /** One iteration; returns the amount of work done. */
  int doWork() {
    nowNs = nanoClock.getAsLong();
    int work = runCommands();
    ConnectionEvent event = manager.pollEvent();
    while (event != null) {
      connector.onEvent(event, nowNs);
      work++;
      event = manager.pollEvent();
    }
    work += completions.poll(COMPLETIONS_AT_ONCE, this);
    boolean tick = nowNs - tickedNs >= TICK_NS;
    if (work > 0 || tick) {
      work += turn(tick);
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

  @Override
  public void onCompletion(WorkCompletion completion) {
    PeerConnection connection = table.at(WorkIds.index(completion.requestId()));
    if (connection != null) {
      connection.onCompletion(completion, nowNs);
    }
  }

  private int turn(boolean tick) {
    int work = 0;
    if (tick) {
      tickedNs = nowNs;
    }
    fetching = false;
    for (int i = table.size() - 1; i >= 0; i--) {
      if (i < table.size()) {
        work += turn(table.get(i), tick);
      }
    }
    for (Peer peer : peers.all()) {
      if (peer.shouldAttempt(nowNs)) {
        connector.attempt(peer, nowNs);
        work++;
      }
    }
    if (tick) {
      giveUpOnSlowPeers();
      if (nowNs - droppedNs >= DROP_INTERVAL_NS) {
        droppedNs = nowNs;
        peers.dropUnused(nowNs);
      }
      if (nowNs - trimmedNs >= settings.idleTimeout().toNanos()) {
        trimmedNs = nowNs;
        trimUnused.run();
      }
    }
    return work;
  }

  private int turn(PeerConnection connection, boolean tick) {
    byte[] hello = connection.setup().pollHello();
    if (hello != null) {
      connector.onHello(connection, hello, nowNs);
      if (connection.isClosed()) {
        return 1;
      }
    }
    if (connection.isReadyToEstablish() && connection.broken() == null) {
      peers.establish(connection);
    }
    if (connection.isUnconfirmed()
        && connection.ageNs(nowNs) > settings.connectTimeout().toNanos()) {
      connection.markBroken(BrokenConnection.connectionLost("not confirmed in time"));
    }
    if (connection.broken() == null && connection.isEstablished()) {
      if (tick) {
        endWhenOverdue(connection);
      }
      if (connection.broken() == null) {
        connection.pump(nowNs);
        fetching |= !connection.fetches().isIdle();
      }
    }
    if (connection.broken() != null) {
      LOG.debug(
          "Closing connection to peer {}: {}", connection.peer(), connection.broken().detail());
      peers.end(connection, connection.broken());
      return 1;
    }
    return 0;
  }

  private void endWhenOverdue(PeerConnection connection) {
    BrokenConnection expired = connection.fetches().expired(nowNs);
    if (expired != null) {
      connection.markBroken(expired);
    } else if (connection.idleNs(nowNs) > settings.idleTimeout().toNanos()) {
      connection.markBroken(BrokenConnection.connectionLost("idle"));
    }
  }

  private void giveUpOnSlowPeers() {
    for (Peer peer : peers.all()) {
      if (peer.hasWaitedTooLong(nowNs, settings.connectTimeout().toNanos())) {
        PeerConnection attempt = peer.attempt();
        if (attempt != null) {
          peers.end(attempt, BrokenConnection.connectionLost("connect timed out"));
        }
        peers.giveUp(peer, FallbackReason.CONNECT_FAILED, "no connection in time");
      }
    }
  }

  private long sleepNs() {
    long sleep = IDLE_SLEEP_NS;
    for (int i = 0; i < table.size(); i++) {
      PeerConnection connection = table.get(i);
      if (!connection.isEstablished() || !connection.isIdle()) {
        sleep = Math.min(sleep, BUSY_SLEEP_NS);
      } else {
        long idleLeft = settings.idleTimeout().toNanos() - connection.idleNs(nowNs);
        sleep = Math.min(sleep, Math.max(idleLeft, TICK_NS));
      }
      if (connection.fetches() != null && connection.fetches().isShortOfMemory()) {
        sleep = SHORT_OF_MEMORY_SLEEP_NS;
      }
    }
    for (Peer peer : peers.all()) {
      if (peer.isWaiting()) {
        sleep = Math.min(sleep, TICK_NS);
      }
    }
    return sleep;
  }
}
