// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * Connects to the executors that this one reads from, with one attempt at a time for each, and logs
 * their faults. Confined to the agent.
 */
final class ConnectAttempts {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectAttempts.class);

  /** An attempt that is older may hang. */
  private static final long YOUNG_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The search for an idle connection visits all of them: the next one follows after this time. */
  private static final long SEARCH_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final AgentResources shared;
  private final FetchPeers peers;
  private final ConnectionManager manager;
  private final List<NetworkAddress> addresses;
  private final LogLimit logLimit;

  /** Peers that wait for a connection attempt, in order. */
  private final Set<Peer> toConnect = new LinkedHashSet<>();

  /** Attempts that have not ended. */
  private final List<FetchConnection> open = new ArrayList<>();

  private int readConnections;

  /** Whether there was no room at the last search, and none has become free since. */
  private boolean full;

  private long searchedNs;

  /**
   * @param addresses of the local device, the preferred one first; connections come from them, so
   *     that routing cannot select another device of the host
   */
  ConnectAttempts(
      AgentResources shared,
      FetchPeers peers,
      ConnectionManager manager,
      List<NetworkAddress> addresses) {
    this.shared = shared;
    this.peers = peers;
    this.manager = manager;
    this.addresses = addresses;
    this.logLimit = new LogLimit(shared.device().nanoClock());
  }

  /** The peer waits for an attempt. */
  void add(Peer peer, long nowNs) {
    if (!peer.waitsForAttempt()) {
      peer.requestConnection(nowNs);
    }
    if (peer.connection() == null) {
      toConnect.add(peer);
    }
  }

  /** Begins the attempts that are due; returns their number. */
  int connect(long nowNs) {
    int begun = 0;
    int room = toConnect.isEmpty() ? 0 : shared.settings().maxAttempts() - young(nowNs);
    Iterator<Peer> inOrder = toConnect.iterator();
    while (begun < room && inOrder.hasNext()) {
      Peer peer = inOrder.next();
      if (!peer.waitsForAttempt()) {
        inOrder.remove();
      } else if (peer.mustConnect(nowNs)) {
        if (!hasRoom(nowNs)) {
          return begun;
        }
        inOrder.remove();
        attempt(peer, nowNs);
        begun++;
      }
    }
    return begun;
  }

  /** Attempts that may still end soon: those that hang take no room from others. */
  private int young(long nowNs) {
    int young = 0;
    for (FetchConnection attempt : open) {
      young += nowNs - attempt.beganNs <= YOUNG_NS ? 1 : 0;
    }
    return young;
  }

  private void attempt(Peer peer, long nowNs) {
    try {
      AddressPair pair =
          AddressPair.of(addresses, peer.endpoint().addresses(), peer.failedAttempts());
      Connection connection =
          manager.resolve(pair.destination(), pair.source(), shared.settings().connectTimeout());
      readConnections++;
      FetchConnection attempt = new FetchConnection(shared, peers, connection, peer, nowNs);
      open.add(attempt);
      peer.beginAttempt(attempt, nowNs);
    } catch (VerbsException e) {
      peer.needsNoConnection();
      FallbackReason reason = FallbackReason.POOL_EMPTY;
      if (!RdmaConnection.isShortage(e)) {
        reason = FallbackReason.CONNECT_FAILED;
        boolean quarantined = peer.health().isQuarantined(nowNs);
        peer.health().onFault(nowNs);
        onFault(peer, reason, e.getMessage(), quarantined);
      }
      peers.leaveWaitingToTcp(peer, reason, e.getMessage(), nowNs);
    }
  }

  /** Whether another connection is possible; if not, ends one that is idle, now or soon. */
  private boolean hasRoom(long nowNs) {
    if (readConnections < shared.settings().maxConnections()) {
      return true;
    }
    if (!full || nowNs - searchedNs >= SEARCH_NS) {
      full = true;
      searchedNs = nowNs;
      FetchConnection idlest = peers.idlest();
      if (idlest != null) {
        idlest.endUnused("another connection needs its room");
      }
    }
    return false;
  }

  /** One has ended: its connection is established or broken. */
  void endAttempt(FetchConnection attempt) {
    open.remove(attempt);
  }

  /** The queue pair of a connection is destroyed. */
  void onDestroyed() {
    readConnections--;
    full = false;
  }

  /**
   * Logs a fault of a peer.
   *
   * @param quarantined whether its budget of waits was spent before this fault
   */
  void onFault(Peer peer, FallbackReason reason, String detail, boolean quarantined) {
    String executor = peer.endpoint().executorId();
    if (!quarantined && peer.health().isQuarantined(shared.work().nowNs())) {
      shared.counters().increment(Counter.PEERS_QUARANTINED);
      LOG.warn(
          "Quarantining peer executor={} after {}: {}; its blocks are fetched over TCP for a while",
          executor,
          reason.label(),
          detail);
    } else {
      logLimit
          .next(executor)
          .ifPresent(
              omitted ->
                  LOG.info(
                      "Fault of peer executor={}: reason={} {}; open blocks use TCP{}",
                      executor,
                      reason.label(),
                      detail,
                      omitted));
    }
  }

  /** The connection manager has an event of a connection that has not ended. */
  void onEvent(FetchConnection connection, ConnectionEvent event, long nowNs) {
    String detail = event.type() + " " + event.reason();
    switch (event.type()) {
      case RESOLVED -> {
        connection.awaitTurn();
        shared.queuePairs().await(() -> create(connection));
      }
      case ESTABLISHED -> connection.onConnected(nowNs);
      case REJECTED -> {
        // InfiniBand fills private data up with zeros.
        byte[] data = event.privateData();
        boolean full =
            data.length > 0 ? data[0] == Messages.FULL : shared.fitness().full().length == 0;
        if (full) {
          retry(connection, detail, nowNs);
        } else {
          // By its host: no executor listens there.
          connection.markBroken(FallbackReason.CONNECT_FAILED, detail);
        }
      }
      case REJECTED_AS_STALE -> retry(connection, detail, nowNs);
      case RESOLVE_FAILED, UNREACHABLE, CONNECT_ERROR ->
          connection.markBroken(FallbackReason.CONNECT_FAILED, detail);
      default ->
          connection.markBroken(
              connection.isUsable() ? FallbackReason.LOST_PEER : FallbackReason.CONNECT_FAILED,
              detail);
    }
  }

  private void create(FetchConnection connection) {
    if (!connection.hasEnded()) {
      connection.create();
    }
  }

  /** An attempt takes too long. */
  void endOverdue(FetchConnection attempt) {
    if (attempt.isHeldUpHere()) {
      giveUp(attempt, "no queue pair in time");
    } else {
      attempt.markBroken(FallbackReason.CONNECT_FAILED, "no connection in time");
    }
  }

  /** A shortage on this side, and no fault of the peer: the blocks use TCP now. */
  void giveUp(FetchConnection attempt, String detail) {
    Peer peer = attempt.peer();
    peer.needsNoConnection();
    peers.leaveWaitingToTcp(peer, FallbackReason.POOL_EMPTY, detail, shared.work().nowNs());
    attempt.markBroken(null, detail);
  }

  /** The peer is well, but has no room now. */
  private void retry(FetchConnection attempt, String detail, long nowNs) {
    Peer peer = attempt.peer();
    peer.retryLater(nowNs);
    attempt.markBroken(null, detail);
  }

  /** Whether an attempt takes too long. */
  boolean isOverdue(FetchConnection attempt, long nowNs) {
    long limitNs =
        attempt.state() == MessageConnection.State.PROVING
            ? shared.settings().connectTimeout().toNanos()
            : shared.settings().attemptTimeout().toNanos();
    long sinceNs =
        attempt.state() == MessageConnection.State.PROVING ? attempt.lastUsedNs : attempt.beganNs;
    return nowNs - sinceNs > limitNs;
  }

  /** Whether a peer waits for an attempt. */
  boolean hasWaiters() {
    return !toConnect.isEmpty();
  }
}
