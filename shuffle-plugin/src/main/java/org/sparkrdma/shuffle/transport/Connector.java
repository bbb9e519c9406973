// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Hello.Refusal;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * Initiates connections to peers, and handles the events of all connections. Owned by the agent.
 *
 * <p>{@link Acceptor} decides about the requests of peers, also where both ends initiate a
 * connection at once.
 */
final class Connector {
  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);

  /** Detail of blocks whose peer has no room for a connection. */
  private static final String REFUSED_BUSY = "refused BUSY: too many connections";

  private final TransportContext context;
  private final ConnectionManager manager;
  private final ConnectionTable table;
  private final Peers peers;
  private final Acceptor acceptor;
  private final Nonces nonces = new Nonces();
  private final List<NetworkAddress> addresses;
  private final int readsInFlight;
  private final HelloPath path;

  /**
   * @param addresses of the local device, the preferred one first; connections come from them, so
   *     that routing cannot select another device of the host
   * @param readsInFlight maximum number of outstanding READs per queue pair
   */
  Connector(
      TransportContext context,
      ConnectionManager manager,
      ConnectionTable table,
      Peers peers,
      List<NetworkAddress> addresses,
      int readsInFlight) {
    this.context = context;
    this.manager = manager;
    this.table = table;
    this.peers = peers;
    this.addresses = addresses;
    this.readsInFlight = readsInFlight;
    this.acceptor = new Acceptor(context, table, peers, nonces, readsInFlight);
    this.path = HelloPath.of(context.device());
  }

  /** Initiates a connection to a peer. */
  void attempt(Peer peer, long nowNs) {
    assert context.owner().holds();
    if (!peers.makeRoom(nowNs)) {
      retryOrGiveUp(peer, FallbackReason.POOL_EMPTY, "too many connections", nowNs);
      return;
    }
    try {
      AddressPair pair = pair(peer);
      Connection connection =
          manager.resolve(pair.destination(), pair.source(), context.settings().connectTimeout());
      peer.attempt(table.initiate(peer, connection));
    } catch (VerbsException e) {
      peer.useNextAddress();
      peers.giveUp(peer, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  /** No failure of the peer: pending blocks use TCP when it was attempted often enough. */
  private void retryOrGiveUp(Peer peer, FallbackReason reason, String detail, long nowNs) {
    if (!peer.tryRetrySoon(nowNs, new Peer.Refused(reason, detail))) {
      peers.giveUpForNow(peer, reason, detail);
    }
  }

  /** The addresses of the next attempt: others after each attempt that has failed. */
  private AddressPair pair(Peer peer) throws VerbsException {
    return AddressPair.of(addresses, peer.endpoint().addresses(), peer.failedAttempts());
  }

  private String pairText(Peer peer) {
    try {
      return pair(peer).toString();
    } catch (VerbsException e) {
      return "none";
    }
  }

  /** Whether an event leads to a queue pair, unless its connection is refused or has ended. */
  static boolean createsQueuePair(ConnectionEvent event) {
    return event.type() == ConnectionEvent.Type.RESOLVED
        || event.type() == ConnectionEvent.Type.CONNECT_REQUEST;
  }

  /** Handles one event of the connection manager. */
  void onEvent(ConnectionEvent event, long nowNs) {
    assert context.owner().holds();
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      acceptor.onRequest(event.connection(), event.privateData(), nowNs);
      return;
    }
    if (event.type() == ConnectionEvent.Type.DEVICE_REMOVED
        || event.type() == ConnectionEvent.Type.DEVICE_DOWN) {
      context
          .deviceLost()
          .accept(event.reason().isEmpty() ? "the device was removed" : event.reason());
    }
    if (event.connection() == null
        || !(event.connection().attachment() instanceof PeerConnection connection)
        || connection.isClosed()
        || connection.broken() != null) {
      // A broken one only waits for its end: what broke it is counted already.
      return;
    }
    switch (event.type()) {
      case RESOLVED -> onResolved(connection);
      case ESTABLISHED -> onEstablished(connection, event.privateData());
      case REJECTED -> onRejected(connection, event, nowNs);
      case REJECTED_AS_STALE -> onStale(connection, event, nowNs);
      case RESOLVE_FAILED, UNREACHABLE, CONNECT_ERROR ->
          onConnectFailed(connection, event.type() + " " + event.reason());
      case DISCONNECTED, DEVICE_REMOVED, DEVICE_DOWN ->
          onEnded(connection, event.type() + " " + event.reason());
      case CONNECT_REQUEST -> throw new IllegalStateException("handled above");
    }
  }

  /** Only marks it broken: its last messages may not have been polled yet. */
  private void onEnded(PeerConnection connection, String detail) {
    connection.markBroken(
        connection.isAttempt()
            ? new BrokenConnection(FallbackReason.CONNECT_FAILED, detail, List.of())
            : BrokenConnection.connectionLost(detail));
  }

  private void onConnectFailed(PeerConnection connection, String detail) {
    if (connection.isAttempt() || connection.isUnconfirmed()) {
      report(connection, FallbackReason.CONNECT_FAILED, detail);
    }
    // Not ended at once: many may fail together, and a responder may use the connection before its
    // device reports ESTABLISHED.
    connection.markBroken(BrokenConnection.connectionLost(detail));
  }

  private void fail(PeerConnection connection, FallbackReason reason, String detail) {
    report(connection, reason, detail);
    peers.end(connection, BrokenConnection.connectionLost(detail));
  }

  /** A set-up failed; if it was an attempt, pending blocks use TCP. */
  private void report(PeerConnection connection, FallbackReason reason, String detail) {
    Peer peer = connection.peer();
    boolean ours = connection.isAttempt();
    context.peerLog().cannotConnect(peer, ours ? pairText(peer) : "", reason, detail);
    if (ours) {
      connection.countFailedAttempt();
      peers.giveUp(peer, reason, detail);
    }
  }

  private void onResolved(PeerConnection connection) {
    Peer peer = connection.peer();
    try {
      if (!connection.prepare()) {
        endForLackOfMemory(connection, PeerConnection.NO_MEMORY);
        return;
      }
      if (path == HelloPath.SEND) {
        connection.setup().open(readsInFlight);
      } else {
        request(connection);
      }
    } catch (VerbsException e) {
      if (e.errno() == VerbsException.ENOMEM) {
        context
            .peerLog()
            .cannotConnect(peer, pairText(peer), FallbackReason.POOL_EMPTY, e.getMessage());
        endForLackOfMemory(connection, e.getMessage());
      } else {
        fail(connection, FallbackReason.CONNECT_FAILED, e.getMessage());
      }
    }
  }

  /** A shortage on this side, and no failure of the peer. */
  private void endForLackOfMemory(PeerConnection connection, String detail) {
    peers.end(connection, BrokenConnection.connectionLost(detail));
    peers.giveUpForNow(connection.peer(), FallbackReason.POOL_EMPTY, detail);
  }

  private void request(PeerConnection connection) throws VerbsException {
    Peer peer = connection.peer();
    connection
        .setup()
        .request(
            Hello.request(
                peer.generation(), peer.incarnation(), context.self().incarnation(), nonces.next()),
            readsInFlight);
  }

  private void onEstablished(PeerConnection connection, byte[] privateData) {
    if (!connection.isAttempt()) {
      return;
    }
    try {
      if (connection.setup().isOpening()) {
        request(connection);
      } else {
        onAnswer(connection, privateData);
      }
    } catch (VerbsException e) {
      fail(connection, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  /** A peer has sent its request, its answer or a refusal as a message. */
  void onHello(PeerConnection connection, byte[] content, long nowNs) {
    assert context.owner().holds();
    Refusal refusal = Hello.decodeRefusal(content);
    if (connection.isAttempt() && refusal != null) {
      onRefused(connection, refusal, "", nowNs);
    } else if (connection.broken() != null) {
      LOG.debug("Dropping a message of peer {}: the connection has ended", connection.peer());
    } else if (connection.isAttempt()) {
      onAnswer(connection, content);
    } else {
      acceptor.onHello(connection, content, nowNs);
    }
  }

  private void onAnswer(PeerConnection connection, byte[] answer) {
    try {
      if (connection.setup().takeAnswer(answer)) {
        peers.establish(connection);
      } else {
        fail(connection, FallbackReason.REFUSED, "the answer has no valid proof");
      }
    } catch (VerbsException e) {
      fail(connection, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private void onRejected(PeerConnection connection, ConnectionEvent event, long nowNs) {
    String detail = "rejected " + event.reason();
    if (connection.isAttempt()) {
      onRefused(connection, Hello.decodeRefusal(event.privateData()), detail, nowNs);
    } else {
      // The initiator has closed its attempt: it has yielded, or it has given up.
      onEnded(connection, detail);
    }
  }

  /** The peer is well: its host ends the stale connection, so the next attempt may succeed. */
  private void onStale(PeerConnection connection, ConnectionEvent event, long nowNs) {
    String detail = "rejected " + event.reason();
    if (!connection.isAttempt()) {
      onEnded(connection, detail);
      return;
    }
    Peer peer = connection.peer();
    peers.end(connection, BrokenConnection.connectionLost(detail));
    retryOrGiveUp(peer, FallbackReason.PEER_BUSY, detail, nowNs);
  }

  private void onRefused(PeerConnection connection, Refusal refusal, String detail, long nowNs) {
    Peer peer = connection.peer();
    // When both ends connect at once over siw, the reason may be lost.
    boolean lostReason = refusal == null && peer.hasConnectionOrRequest();
    if (refusal == Refusal.COLLISION || lostReason) {
      // The peer's own request wins. If it is lost, this executor retries until the peer yields.
      peers.yieldAttempt(connection, "collision");
      peer.retryAfterCollision(nowNs);
    } else if (refusal == Refusal.BUSY) {
      peers.end(connection, BrokenConnection.connectionLost("refused BUSY"));
      retryOrGiveUp(peer, FallbackReason.PEER_BUSY, REFUSED_BUSY, nowNs);
    } else if (refusal == null) {
      fail(connection, FallbackReason.CONNECT_FAILED, detail);
    } else {
      fail(connection, FallbackReason.REFUSED, "refused " + refusal);
    }
  }
}
