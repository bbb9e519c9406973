// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.fetch.ReceivePool;
import org.sparkrdma.shuffle.settings.TransportSettings;

/**
 * Gives connections their turns to post work and to end. Owned by the agent.
 *
 * <p>A connection that requests a turn gets one soon. At every tick each connection with open
 * requests or an unfinished set-up gets one, which also checks its time-outs. All connections get
 * one ten times a second; otherwise idle ones cost nothing. {@link ConnectionEnds} ends a few
 * broken ones in each turn of the agent, and {@link ConnectionAttempts} makes new ones.
 */
final class ConnectionTurns {
  private static final long TICK_NS = 5_000_000;
  private static final long VISIT_ALL_NS = 100_000_000;
  private static final long SHORT_OF_MEMORY_NS = 1_000_000;
  private static final long BUSY_SLEEP_NS = 20_000_000;
  private static final long IDLE_SLEEP_NS = 1_000_000_000;
  private static final long DROP_INTERVAL_NS = 1_000_000_000;

  /** Idle time after which a connection returns its credits. */
  private static final long RETURN_CREDITS_NS = 1_000_000_000;

  private final TransportSettings settings;
  private final ConnectionTable table;
  private final Peers peers;
  private final Connector connector;
  private final ConnectionAttempts attempts;
  private final ControlBuffers control;
  private final ReceivePool receive;
  private final ConnectionEnds ends;
  private final IdleLimit idleLimit;

  /** Connections that had something to do or to wait for at their last turn. */
  private final Set<PeerConnection> busy = new LinkedHashSet<>();

  /** {@link #visit(PeerConnection)}, made once. */
  private final Consumer<PeerConnection> visit = this::visit;

  private long nowNs;
  private long tickedNs;
  private long visitedAllNs;
  private long trimmedNs;
  private long droppedNs;

  /** Whether more receive memory is marked as idle. */
  private boolean trimming;

  private boolean tick;
  private boolean fetching;
  private long sleepNs = IDLE_SLEEP_NS;
  private int work;

  /**
   * @param receive is deregistered, a little at each tick, when it is idle for the idle time-out
   */
  ConnectionTurns(
      TransportSettings settings,
      ConnectionTable table,
      Peers peers,
      Connector connector,
      ControlBuffers control,
      ReceivePool receive,
      long nowNs) {
    this.settings = settings;
    this.table = table;
    this.peers = peers;
    this.connector = connector;
    this.attempts = new ConnectionAttempts(settings, peers, connector, nowNs);
    this.control = control;
    this.receive = receive;
    this.ends = new ConnectionEnds(peers);
    this.idleLimit =
        new IdleLimit(
            settings.idleTimeout().toNanos(), settings.maxConnections(), control::freeShare);
    this.nowNs = nowNs;
    this.tickedNs = nowNs;
    this.visitedAllNs = nowNs;
    this.trimmedNs = nowNs;
    this.droppedNs = nowNs;
  }

  /** Gives all turns that are due; returns the number of connections attempted or ended. */
  int run(long now) {
    nowNs = now;
    work = 0;
    idleLimit.beginTurn();
    tick = nowNs - tickedNs >= TICK_NS;
    if (tick) {
      trimReceiveMemory(ControlBuffers.MAX_TRIMMED - control.onTick(nowNs));
    }
    receive.check(nowNs);
    if (tick && nowNs - visitedAllNs >= VISIT_ALL_NS) {
      visitAll();
    } else if (tick) {
      visitBusy();
    }
    table.forEachReady(visit);
    work += ends.run();
    work += attempts.run(nowNs);
    if (tick) {
      tickedNs = nowNs;
      attempts.giveUpOverdue(nowNs);
      if (nowNs - droppedNs >= DROP_INTERVAL_NS) {
        droppedNs = nowNs;
        peers.dropUnused(nowNs);
      }
      if (nowNs - trimmedNs >= settings.idleTimeout().toNanos()) {
        trimmedNs = nowNs;
        receive.markIdle();
        trimming = true;
        control.trimUnused();
      }
    }
    return work;
  }

  /** The pool's lock is held meanwhile, and completions wait: a wide stage leaves many slabs. */
  private void trimReceiveMemory(int max) {
    trimming = trimming && receive.trimIdle(max) == max;
  }

  /** Whether a connection fetched at its last turn, so that answers are to be expected soon. */
  boolean isFetching() {
    return fetching;
  }

  /** Longest sleep of the agent when there is no work, in nanoseconds. */
  long sleepNs() {
    if (receive.hasWaiters()) {
      return Math.min(sleepNs, SHORT_OF_MEMORY_NS);
    }
    boolean wait = trimming || !peers.waiting().isEmpty() || control.needsTicks();
    return wait ? Math.min(sleepNs, TICK_NS) : sleepNs;
  }

  private void visitAll() {
    beginVisits();
    visitedAllNs = nowNs;
    busy.clear();
    for (int i = table.size() - 1; i >= 0; i--) {
      if (i < table.size()) {
        visit(table.get(i));
      }
    }
  }

  private void visitBusy() {
    beginVisits();
    List<PeerConnection> visited = List.copyOf(busy);
    busy.clear();
    visited.forEach(visit);
  }

  private void beginVisits() {
    fetching = false;
    sleepNs = IDLE_SLEEP_NS;
  }

  private void visit(PeerConnection connection) {
    if (connection.isClosed()) {
      return;
    }
    connection.onPolled();
    turn(connection);
    if (!connection.isClosed()) {
      sleepNs = Math.min(sleepNs, sleepNs(connection));
      if (isBusy(connection)) {
        busy.add(connection);
      }
    }
  }

  private static boolean isBusy(PeerConnection connection) {
    return !connection.isEstablished()
        || !connection.isIdle()
        || connection.fetches().isShortOfBuffers();
  }

  private void turn(PeerConnection connection) {
    if (connection.awaitsEnd()) {
      return;
    }
    byte[] hello = connection.setup().pollHello();
    if (hello != null) {
      connector.onHello(connection, hello, nowNs);
      if (connection.isClosed()) {
        work++;
        return;
      }
    }
    if (connection.isReadyToEstablish() && connection.broken() == null) {
      peers.confirmed(connection, nowNs);
    }
    if (connection.broken() == null
        && connection.isUnconfirmed()
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
      ends.add(connection);
    }
  }

  private void endWhenOverdue(PeerConnection connection) {
    connection.noteProgress(nowNs);
    BrokenConnection expired = connection.fetches().expired(nowNs);
    if (expired != null) {
      connection.markBroken(expired);
    } else if (connection.hasStalled(nowNs, settings.requestTimeout().toNanos())) {
      connection.markBroken(
          BrokenConnection.connectionLost("peer receives no messages: none taken in time"));
    } else if (connection.idleNs(nowNs) > idleLimitNs() && !connection.hasLeases()) {
      connection.markBroken(BrokenConnection.connectionLost("idle"));
    } else if (connection.isIdle() && connection.idleNs(nowNs) >= RETURN_CREDITS_NS) {
      connection.returnCredits();
    }
  }

  private long idleLimitNs() {
    return idleLimit.limitNs(table.size() - ends.size());
  }

  private long sleepNs(PeerConnection connection) {
    if (!connection.isEstablished()) {
      return BUSY_SLEEP_NS;
    }
    if (connection.fetches().isShortOfBuffers() || connection.fetches().hasLeasesToRelease()) {
      return TICK_NS;
    }
    return connection.isIdle()
        ? Math.max(idleLimitNs() - connection.idleNs(nowNs), TICK_NS)
        : BUSY_SLEEP_NS;
  }
}
