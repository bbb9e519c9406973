// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.LogLimit;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;

/**
 * The executors that this one reads from: initiates a connection to each, and decides what follows
 * a fault. Confined to the agent, but for {@link #postedByTasks}.
 */
final class ReadPeers {
  private static final Logger LOG = LoggerFactory.getLogger(ReadPeers.class);

  private final ConnectionResources context;
  private final ConnectionManager manager;
  private final List<NetworkAddress> addresses;
  private final LogLimit logLimit;
  private final Map<Long, Peer> peers = new HashMap<>();
  private final Map<Long, ReadConnection> established = new ConcurrentHashMap<>();

  /** Peers that wait for a connection attempt, in order. */
  private final List<Peer> toConnect = new ArrayList<>();

  private int attempts;
  private int readConnections;

  /**
   * @param addresses of the local device, the preferred one first; connections come from them, so
   *     that routing cannot select another device of the host
   */
  ReadPeers(
      ConnectionResources context, ConnectionManager manager, List<NetworkAddress> addresses) {
    this.context = context;
    this.manager = manager;
    this.addresses = addresses;
    this.logLimit = new LogLimit(context.device().nanoClock());
  }

  /**
   * The established connection to an executor, on which a task may post; null without. Safe for any
   * thread.
   */
  ReadConnection postedByTasks(long incarnation) {
    return context.info().can(Capability.POST_BESIDE_POLL) ? established.get(incarnation) : null;
  }

  /** Fetches the blocks of a request from an index on. */
  void fetch(FetchRequest request, int from, long nowNs) {
    assert context.owner().holds();
    Endpoint endpoint = request.endpoint();
    Peer peer = peers.computeIfAbsent(endpoint.incarnation(), key -> new Peer(endpoint));
    ReadConnection connection = peer.connection();
    long deadlineNs = nowNs + context.settings().connectTimeout().toNanos();
    Peer.Waiting waiting = new Peer.Waiting(request, from, deadlineNs);
    String incompatibility = context.self().endpoint().incompatibility(endpoint).orElse(null);
    if (incompatibility != null) {
      waiting.sendToTcp(FallbackReason.INCOMPATIBLE, incompatibility);
    } else if (peer.isQuarantined(nowNs)) {
      waiting.sendToTcp(FallbackReason.QUARANTINED, "peer is quarantined");
    } else if (connection != null && connection.isUsable()) {
      connection.fetch(request, from, nowNs);
    } else {
      peer.waiting().add(waiting);
      addToAttempt(peer, nowNs);
    }
  }

  private void addToAttempt(Peer peer, long nowNs) {
    if (!peer.waitsForAttempt()) {
      peer.requestConnection(nowNs);
    }
    if (peer.connection() == null && !toConnect.contains(peer)) {
      toConnect.add(peer);
    }
  }

  /** Begins the attempts that are due; returns their number. */
  int connect(long nowNs) {
    int begun = 0;
    for (int i = 0; i < toConnect.size() && attempts < context.settings().maxAttempts(); i++) {
      Peer peer = toConnect.get(i);
      if (!peer.waitsForAttempt()) {
        toConnect.remove(i--);
      } else if (peer.mustConnect(nowNs)) {
        toConnect.remove(i--);
        attempt(peer, nowNs);
        begun++;
      }
    }
    return begun;
  }

  private void attempt(Peer peer, long nowNs) {
    if (!hasRoom()) {
      peer.retryLater(nowNs);
      addToAttempt(peer, nowNs);
      return;
    }
    try {
      AddressPair pair =
          AddressPair.of(addresses, peer.endpoint().addresses(), peer.failedAttempts());
      Connection connection =
          manager.resolve(pair.destination(), pair.source(), context.settings().connectTimeout());
      attempts++;
      readConnections++;
      peer.setConnection(new ReadConnection(context, this, connection, peer, nowNs));
    } catch (VerbsException e) {
      peer.needsNoConnection();
      onFault(peer, FallbackReason.CONNECT_FAILED, e.getMessage(), nowNs);
      failWaiting(peer, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  /** Whether another connection is possible; if not, ends one that is idle. */
  private boolean hasRoom() {
    if (readConnections < context.settings().maxConnections()) {
      return true;
    }
    ReadConnection idlest = null;
    for (ReadConnection connection : established.values()) {
      if (!connection.isBusy()
          && (idlest == null || connection.lastUsedNs - idlest.lastUsedNs < 0)) {
        idlest = connection;
      }
    }
    if (idlest != null) {
      idlest.markBroken(null, "another connection needs its room");
    }
    return false;
  }

  private static void failWaiting(Peer peer, FallbackReason reason, String detail) {
    while (!peer.waiting().isEmpty()) {
      peer.waiting().poll().sendToTcp(reason, detail);
    }
  }

  /** The peer is proven: the fetches that wait begin. */
  void onEstablished(ReadConnection connection, long nowNs) {
    Peer peer = connection.peer();
    attempts--;
    peer.needsNoConnection();
    established.put(peer.endpoint().incarnation(), connection);
    while (!peer.waiting().isEmpty() && connection.isUsable()) {
      Peer.Waiting next = peer.waiting().poll();
      connection.fetch(next.request(), next.from(), nowNs);
    }
  }

  /** The peer is well, but has no room now. */
  private void retry(ReadConnection attempt, String detail, long nowNs) {
    Peer peer = attempt.peer();
    peer.onRejected(nowNs);
    attempt.markBroken(null, detail);
  }

  /**
   * A connection is broken and posts nothing more. The fetches that wait for an attempt fail with
   * it, unless another attempt follows.
   *
   * @param reason null when it is no fault
   */
  void onBroken(ReadConnection connection, FallbackReason reason, String detail) {
    Peer peer = connection.peer();
    long nowNs = context.connections().nowNs();
    boolean attempt = !established.remove(peer.endpoint().incarnation(), connection);
    attempts -= attempt ? 1 : 0;
    peer.setConnection(null);
    if (reason != null) {
      if (attempt) {
        peer.countFailedAttempt();
        peer.needsNoConnection();
      }
      onFault(peer, reason, detail, nowNs);
      failWaiting(peer, attempt ? reason : FallbackReason.LOST_PEER, detail);
    }
    if (!peer.waiting().isEmpty()) {
      addToAttempt(peer, nowNs);
    }
  }

  private void onFault(Peer peer, FallbackReason reason, String detail, long nowNs) {
    long pauseNs =
        peer.onFault(
            nowNs,
            context.settings().quarantine().toNanos(),
            context.settings().maxQuarantine().toNanos());
    String executor = peer.endpoint().executorId();
    if (pauseNs > 0) {
      context.counters().increment(Counter.PEERS_QUARANTINED);
      LOG.warn(
          "Quarantining peer executor={} for {} ms after {}: {}; its blocks use TCP",
          executor,
          TimeUnit.NANOSECONDS.toMillis(pauseNs),
          reason.label(),
          detail);
    } else {
      logLimit
          .next(executor)
          .ifPresent(
              omitted ->
                  LOG.info(
                      "Connection to peer executor={} ended: reason={} {}; open blocks use TCP{}",
                      executor,
                      reason.label(),
                      detail,
                      omitted));
    }
  }

  /** Data of a peer differs from what TCP brings: its connection is at fault. */
  void onCorruptData(long incarnation) {
    ReadConnection connection = established.get(incarnation);
    if (connection != null) {
      connection.markBroken(FallbackReason.LOST_PEER, "data differs from TCP's");
    }
  }

  /** The queue pair of a connection is destroyed. */
  void onEnded(ReadConnection connection) {
    readConnections--;
    if (connection.isProven()) {
      context.counters().increment(Counter.CONNECTIONS_CLOSED);
    }
  }

  // Events.

  /** The connection manager has an event of a connection that has not ended. */
  void onEvent(ReadConnection connection, ConnectionEvent event, long nowNs) {
    String detail = event.type() + " " + event.reason();
    switch (event.type()) {
      case RESOLVED -> onResolved(connection);
      case ESTABLISHED -> connection.onConnected(nowNs);
      case REJECTED -> {
        // InfiniBand fills private data up with zeros.
        byte[] data = event.privateData();
        boolean full = data.length > 0 ? data[0] == Messages.FULL : context.full().length == 0;
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

  private void onResolved(ReadConnection connection) {
    try {
      if (!connection.connect()) {
        giveUp(connection, "no memory for messages");
      }
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.ENOMEM) {
        giveUp(connection, e.getMessage());
      } else {
        connection.markBroken(FallbackReason.CONNECT_FAILED, e.getMessage());
      }
    }
  }

  /** A shortage on this side, and no fault of the peer: the blocks use TCP now. */
  private void giveUp(ReadConnection attempt, String detail) {
    Peer peer = attempt.peer();
    peer.needsNoConnection();
    failWaiting(peer, FallbackReason.POOL_EMPTY, detail);
    attempt.markBroken(null, detail);
  }

  // Deadlines and the end.

  /**
   * Checks of each tenth of a second: fetches that wait too long for a connection use TCP, and
   * attempts that take too long are faults. An attempt may take three times as long as blocks wait,
   * because kernels repeat a lost message of a set-up after seconds.
   */
  void onTick(long nowNs) {
    for (Peer peer : peers.values()) {
      while (!peer.waiting().isEmpty() && nowNs - peer.waiting().peek().deadlineNs() > 0) {
        peer.waiting().poll().sendToTcp(FallbackReason.CONNECT_FAILED, "no connection in time");
      }
      ReadConnection connection = peer.connection();
      if (connection == null && peer.waiting().isEmpty() && peer.waitsForAttempt()) {
        boolean full = peer.hasRejected();
        peer.needsNoConnection();
        if (full) {
          onFault(peer, FallbackReason.CONNECT_FAILED, "rejected until the time-out", nowNs);
        }
      }
      if (connection != null && !connection.isUsable() && isOverdue(connection, nowNs)) {
        connection.markBroken(FallbackReason.CONNECT_FAILED, "no connection in time");
      }
    }
  }

  private boolean isOverdue(ReadConnection attempt, long nowNs) {
    long limitNs =
        attempt.state() == RdmaConnection.State.PROVING
            ? context.settings().connectTimeout().toNanos()
            : context.settings().attemptTimeout().toNanos();
    long sinceNs =
        attempt.state() == RdmaConnection.State.PROVING ? attempt.lastUsedNs : attempt.beganNs;
    return nowNs - sinceNs > limitNs;
  }

  /** Forgets peers of which nothing must be remembered. */
  void dropUnused(long nowNs) {
    peers.values().removeIf(peer -> peer.isUnused(nowNs));
  }

  /** Whether a peer waits for an attempt. */
  boolean awaitsAttempt() {
    return !toConnect.isEmpty();
  }
}
