// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.fetch.WaitBudget;
import org.sparkrdma.shuffle.fetch.WaitBudgets;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * The executors that this one reads from, with the connection to each, which {@link
 * ConnectAttempts} makes. {@link #fetch} finds the connection of a request, and leaves blocks to
 * TCP for whose {@link Peer} nothing may wait, or which is incompatible. Confined to the agent.
 */
final class FetchPeers {
  private final AgentResources shared;
  private final Map<Long, Peer> peers = new HashMap<>();
  private final Map<Long, FetchConnection> established;
  private final ConnectAttempts attempts;
  private final WaitBudget waits;
  private final WaitBudget firstConnections;
  private boolean hasOpenWaits;

  /** Whether connections have become suspect since their memory was limited. */
  private boolean hasNewSuspects;

  /** Time of waits in vain that no counter has yet. */
  private long vainNs;

  /**
   * @param established has the connections by incarnation; tasks read it
   */
  FetchPeers(
      AgentResources shared,
      ConnectionManager manager,
      List<NetworkAddress> addresses,
      Map<Long, FetchConnection> established) {
    this.shared = shared;
    this.established = established;
    this.attempts = new ConnectAttempts(shared, this, manager, addresses);
    this.waits = WaitBudgets.ofPeers(shared.waits());
    this.firstConnections = WaitBudgets.ofFirstConnections(shared.waits());
  }

  ConnectAttempts attempts() {
    return attempts;
  }

  /** Fetches the blocks of a request from an index on. */
  void fetch(FetchRequest request, int from, long nowNs) {
    assert shared.agentThread().holds();
    Endpoint endpoint = request.endpoint();
    Peer peer =
        peers.computeIfAbsent(
            endpoint.incarnation(),
            key -> new Peer(endpoint, new PeerHealth(waits, firstConnections)));
    FetchConnection connection = peer.connection();
    boolean usable = connection != null && connection.isUsable();
    String incompatibility = shared.self().endpoint().incompatibility(endpoint).orElse(null);
    if (incompatibility != null) {
      request.leaveRestToTcp(from, FallbackReason.INCOMPATIBLE, incompatibility);
      return;
    }
    peer.onWanted(nowNs);
    if (usable && !connection.isSuspect()) {
      // The LOCATE says so: it may be the first one after a quarantine.
      connection.setLimit(peer.health().limitNs(nowNs));
    }
    if (usable ? connection.isSuspect() : peer.hasWaitedInVain()) {
      request.leaveRestToTcp(from, FallbackReason.SLOW_PEER, "peer makes no progress");
    } else if (usable ? peer.health().limitNs(nowNs) == 0 : !peer.mayWait(nowNs)) {
      request.leaveRestToTcp(from, FallbackReason.QUARANTINED, "waits for peers were in vain");
      if (!usable && !peer.health().isQuarantined(nowNs)) {
        // Others have spent what all peers have: an attempt beside TCP shows whether this one is
        // well.
        attempts.add(peer, nowNs);
      }
    } else if (usable && connection.wantsProbe()) {
      connection.setWantsProbe(false);
      request.probeTcp(from, peer.health().tcp());
      connection.fetch(request, from + 1, nowNs);
    } else if (usable) {
      connection.fetch(request, from, nowNs);
    } else {
      peer.add(request, from, nowNs);
      attempts.add(peer, nowNs);
    }
  }

  /** The established connection that was not used for longest; null when all are busy. */
  FetchConnection idlest() {
    FetchConnection idlest = null;
    for (FetchConnection connection : established.values()) {
      if (!connection.isBusy()
          && (idlest == null || connection.lastUsedNs - idlest.lastUsedNs < 0)) {
        idlest = connection;
      }
    }
    return idlest;
  }

  /** The peer is proven: the fetches that wait begin. */
  void onEstablished(FetchConnection connection, long nowNs) {
    Peer peer = connection.peer();
    attempts.endAttempt(connection);
    peer.onEstablished(nowNs);
    connection.setLimit(peer.health().limitNs(nowNs));
    established.put(peer.endpoint().incarnation(), connection);
    boolean quarantined = peer.health().isQuarantined(nowNs);
    peer.fetchWaiting(nowNs);
    if (!quarantined && peer.health().isQuarantined(nowNs)) {
      connection.setLimit(peer.health().limitNs(nowNs));
      attempts.onFault(peer, FallbackReason.SLOW_PEER, "connections come late", false);
    }
  }

  /**
   * A connection is broken and posts nothing more. The fetches that wait for an attempt fail with
   * it, unless another attempt follows.
   *
   * @param reason null when it is no fault
   * @param sinceNs time since which tasks wait for it; now when none does
   */
  void onBroken(FetchConnection connection, FallbackReason reason, String detail, long sinceNs) {
    Peer peer = connection.peer();
    long nowNs = shared.work().nowNs();
    boolean attempt = !established.remove(peer.endpoint().incarnation(), connection);
    if (attempt) {
      attempts.endAttempt(connection);
    }
    boolean known = attempt ? peer.hasWaitedInVain() : connection.isSuspect();
    if (attempt) {
      peer.onFailed();
    } else {
      peer.onBroken(reason != null);
    }
    if (reason != null) {
      if (attempt) {
        peer.countFailedAttempt();
        peer.needsNoConnection();
      }
      boolean quarantined = peer.health().isQuarantined(nowNs);
      if (!known) {
        countVain(peer.health().inVain(sinceNs, nowNs));
      }
      leaveWaitingToTcp(peer, attempt ? reason : FallbackReason.LOST_PEER, detail, nowNs);
      if (!known) {
        peer.health().onFault(nowNs);
      }
      attempts.onFault(peer, reason, detail, quarantined);
    }
    if (peer.hasWaiting()) {
      attempts.add(peer, nowNs);
    }
  }

  /** The fetches that wait for a connection use TCP. */
  void leaveWaitingToTcp(Peer peer, FallbackReason reason, String detail, long nowNs) {
    countVain(peer.leaveWaitingToTcp(reason, detail, nowNs));
  }

  private void countVain(long costNs) {
    vainNs += costNs;
    shared.counters().add(Counter.PEER_WAITS_IN_VAIN, TimeUnit.NANOSECONDS.toMillis(vainNs));
    vainNs %= TimeUnit.MILLISECONDS.toNanos(1);
  }

  /** The peer has answered without room, or without an end: in vain, unless that was known. */
  void onVainAnswer(FetchConnection connection, long askedNs, long nowNs) {
    if (!connection.isSuspect()) {
      countVain(connection.peer().health().inVain(askedNs, nowNs));
      connection.peer().health().onAnswer(nowNs);
      connection.setLimit(connection.peer().health().limitNs(nowNs));
    }
  }

  /** An answer or READ has come after a wait that was longer than a free one. */
  void onSlowResult(FetchConnection connection, long sinceNs, long nowNs) {
    Peer peer = connection.peer();
    boolean quarantined = peer.health().isQuarantined(nowNs);
    if (peer.health().onSlowResult(sinceNs, nowNs)) {
      connection.setWantsProbe(true);
    }
    if (!quarantined && peer.health().isQuarantined(nowNs)) {
      attempts.onFault(peer, FallbackReason.SLOW_PEER, "slow answers or READs", false);
    }
    connection.setLimit(peer.health().limitNs(nowNs));
  }

  /** Tasks have waited for an answer or READs of a connection for so long as they may. */
  void onSuspect(FetchConnection connection, long sinceNs, long nowNs) {
    Peer peer = connection.peer();
    boolean quarantined = peer.health().isQuarantined(nowNs);
    countVain(peer.health().inVain(sinceNs, nowNs));
    shared.counters().increment(Counter.PEERS_SUSPECT);
    hasNewSuspects = true;
    attempts.onFault(peer, FallbackReason.SLOW_PEER, "peer makes no progress", quarantined);
  }

  /**
   * READs of suspect connections may write their memory until the end of their queue pairs. That of
   * the oldest ends when they hold more than half of all, in whole chunks, since a short block
   * keeps its chunk from others. After all of them have left their blocks to TCP.
   */
  private void limitHeldMemory() {
    Set<RegisteredChunk> held = new HashSet<>();
    FetchConnection oldest = null;
    for (FetchConnection one : established.values()) {
      if (one.isSuspect()) {
        one.addHeldChunks(held);
        oldest = oldest == null || one.suspectNs() - oldest.suspectNs() < 0 ? one : oldest;
      }
    }
    long heldBytes = (long) held.size() * shared.shares().chunkBytes();
    if (heldBytes > shared.receiveMemory().shareBytes()) {
      oldest.markBroken(FallbackReason.SLOW_PEER, "suspect connections hold half of the memory");
      limitHeldMemory();
    }
  }

  /** Data of a peer differs from what TCP brings: its connection ends, and its budget is spent. */
  void onCorruptData(long incarnation) {
    Peer peer = peers.get(incarnation);
    if (peer == null) {
      return;
    }
    long nowNs = shared.work().nowNs();
    boolean quarantined = peer.health().isQuarantined(nowNs);
    // Before the end of its connection, which would charge a fault like any other.
    peer.health().onCorruptData(nowNs);
    FetchConnection connection = established.get(incarnation);
    if (connection != null) {
      connection.markBroken(FallbackReason.CORRUPT, "data differs from TCP's");
    }
    // After the end, so that whoever sees it counted begins nothing on the connection.
    if (!quarantined) {
      attempts.onFault(peer, FallbackReason.CORRUPT, "data differs from TCP's", false);
    }
  }

  /** The queue pair of a connection is destroyed. */
  void onDestroyed(FetchConnection connection) {
    attempts.onDestroyed();
    if (connection.isProven()) {
      shared.counters().increment(Counter.CONNECTIONS_CLOSED);
    }
  }

  /**
   * Leaves blocks to TCP whose waits are over. What was begun goes on, connection attempts as well:
   * their end shows whether a peer is well.
   */
  void checkWaits(long nowNs) {
    hasOpenWaits = false;
    for (Peer peer : peers.values()) {
      if (peer.hasWaiting()) {
        boolean quarantined = peer.health().isQuarantined(nowNs);
        countVain(peer.leaveLateToTcp(shared.settings().connectTimeout().toNanos(), nowNs));
        if (!quarantined && peer.health().isQuarantined(nowNs)) {
          attempts.onFault(peer, FallbackReason.CONNECT_FAILED, "no connection in time", false);
        }
      }
      FetchConnection connection = peer.connection();
      boolean open = connection != null && connection.isUsable() && connection.checkWait(nowNs);
      hasOpenWaits |= open || peer.hasWaiting();
    }
    if (hasNewSuspects) {
      hasNewSuspects = false;
      limitHeldMemory();
    }
  }

  /** Whether something waited at the last check. */
  boolean hasOpenWaits() {
    return hasOpenWaits;
  }

  /** The agent has come late by this time: nobody has waited for a peer meanwhile. */
  void onLate(long lateNs) {
    for (Peer peer : peers.values()) {
      peer.onLate(lateNs);
      if (peer.connection() != null && peer.connection().isUsable()) {
        peer.connection().onLate(lateNs);
      }
    }
  }

  /**
   * Checks of each tenth of a second: attempts that take too long are faults. An attempt may take
   * longer than blocks wait, because kernels repeat a lost message of a set-up after seconds.
   */
  void onTick(long nowNs) {
    for (Peer peer : peers.values()) {
      FetchConnection connection = peer.connection();
      if (connection == null && !peer.isWanted(nowNs)) {
        peer.needsNoConnection();
      }
      if (connection != null && !connection.isUsable() && attempts.isOverdue(connection, nowNs)) {
        attempts.endOverdue(connection);
      }
    }
  }

  /** Forgets peers of which nothing must be remembered. */
  void dropUnused(long nowNs) {
    peers.values().removeIf(peer -> peer.isUnused(nowNs));
  }
}
