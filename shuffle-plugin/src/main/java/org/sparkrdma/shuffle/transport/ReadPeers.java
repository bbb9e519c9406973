// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FetchRequest;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.device.Capability;

/**
 * The executors that this one reads from, with the connection to each, which {@link
 * ConnectAttempts} makes. {@link #fetch} finds the connection of a request, and leaves blocks to
 * TCP whose {@link Peer} is quarantined or incompatible. Confined to the agent, but for {@link
 * #connectionForTasks}.
 */
final class ReadPeers {
  private final ConnectionResources context;
  private final Map<Long, Peer> peers = new HashMap<>();
  private final Map<Long, ReadConnection> established = new ConcurrentHashMap<>();

  private final ConnectAttempts attempts;

  ReadPeers(
      ConnectionResources context, ConnectionManager manager, List<NetworkAddress> addresses) {
    this.context = context;
    this.attempts = new ConnectAttempts(context, this, manager, addresses);
  }

  ConnectAttempts attempts() {
    return attempts;
  }

  /**
   * The established connection to an executor, on which a task may post; null without. Safe for any
   * thread.
   */
  ReadConnection connectionForTasks(long incarnation) {
    return context.info().can(Capability.POST_BESIDE_POLL) ? established.get(incarnation) : null;
  }

  /** Fetches the blocks of a request from an index on. */
  void fetch(FetchRequest request, int from, long nowNs) {
    assert context.agentThread().holds();
    Endpoint endpoint = request.endpoint();
    Peer peer = peers.computeIfAbsent(endpoint.incarnation(), key -> new Peer(endpoint));
    ReadConnection connection = peer.connection();
    long deadlineNs = nowNs + context.settings().connectTimeout().toNanos();
    Peer.Waiting waiting = new Peer.Waiting(request, from, deadlineNs);
    String incompatibility = context.self().endpoint().incompatibility(endpoint).orElse(null);
    if (incompatibility != null) {
      waiting.leaveToTcp(FallbackReason.INCOMPATIBLE, incompatibility);
    } else if (peer.isQuarantined(nowNs)) {
      waiting.leaveToTcp(FallbackReason.QUARANTINED, "peer is quarantined");
    } else if (connection != null && connection.isUsable()) {
      connection.fetch(request, from, nowNs);
    } else {
      peer.waiting().add(waiting);
      attempts.add(peer, nowNs);
    }
  }

  /** The established connection that was not used for longest; null when all are busy. */
  ReadConnection idlest() {
    ReadConnection idlest = null;
    for (ReadConnection connection : established.values()) {
      if (!connection.isBusy()
          && (idlest == null || connection.lastUsedNs - idlest.lastUsedNs < 0)) {
        idlest = connection;
      }
    }
    return idlest;
  }

  /** The peer is proven: the fetches that wait begin. */
  void onEstablished(ReadConnection connection, long nowNs) {
    Peer peer = connection.peer();
    attempts.endAttempt();
    peer.needsNoConnection();
    established.put(peer.endpoint().incarnation(), connection);
    while (!peer.waiting().isEmpty() && connection.isUsable()) {
      Peer.Waiting next = peer.waiting().poll();
      connection.fetch(next.request(), next.from(), nowNs);
    }
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
    if (attempt) {
      attempts.endAttempt();
    }
    peer.setConnection(null);
    if (reason != null) {
      if (attempt) {
        peer.countFailedAttempt();
        peer.needsNoConnection();
      }
      attempts.onFault(peer, reason, detail, nowNs);
      peer.leaveWaitingToTcp(attempt ? reason : FallbackReason.LOST_PEER, detail);
    }
    if (!peer.waiting().isEmpty()) {
      attempts.add(peer, nowNs);
    }
  }

  /** Data of a peer differs from what TCP brings: its connection is at fault, and ends. */
  void onCorruptData(long incarnation) {
    ReadConnection connection = established.get(incarnation);
    if (connection != null) {
      connection.markBroken(FallbackReason.LOST_PEER, "data differs from TCP's");
    }
  }

  /** The queue pair of a connection is destroyed. */
  void onDestroyed(ReadConnection connection) {
    attempts.onDestroyed();
    if (connection.isProven()) {
      context.counters().increment(Counter.CONNECTIONS_CLOSED);
    }
  }

  /**
   * Checks of each tenth of a second: fetches that wait too long for a connection use TCP, and
   * attempts that take too long are faults. An attempt may take three times as long as blocks wait,
   * because kernels repeat a lost message of a set-up after seconds.
   */
  void onTick(long nowNs) {
    for (Peer peer : peers.values()) {
      while (!peer.waiting().isEmpty() && nowNs - peer.waiting().peek().deadlineNs() > 0) {
        peer.waiting().poll().leaveToTcp(FallbackReason.CONNECT_FAILED, "no connection in time");
      }
      ReadConnection connection = peer.connection();
      if (connection == null && peer.waiting().isEmpty() && peer.waitsForAttempt()) {
        boolean full = peer.hasRejected();
        peer.needsNoConnection();
        if (full) {
          attempts.onFault(
              peer, FallbackReason.CONNECT_FAILED, "rejected until the time-out", nowNs);
        }
      }
      if (connection != null && !connection.isUsable() && attempts.isOverdue(connection, nowNs)) {
        connection.markBroken(FallbackReason.CONNECT_FAILED, "no connection in time");
      }
    }
  }

  /** Forgets peers of which nothing must be remembered. */
  void dropUnused(long nowNs) {
    peers.values().removeIf(peer -> peer.isUnused(nowNs));
  }
}
