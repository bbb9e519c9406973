// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.address.AddressPair;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Binding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Hello.Refusal;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;

/**
 * Initiates connections to peers, and accepts or refuses the connection requests of peers. Owned by
 * the agent.
 *
 * <p>Two executors share one connection. When both initiate at once, the request of the lower
 * incarnation (unsigned) wins: the other end accepts it and drops its own. A late request may have
 * crossed a request of this executor that the peer accepted meanwhile, or its sender may have lost
 * the connection. The generation in the HELLO distinguishes the two: it counts the connections that
 * the sender knows of.
 *
 * <p>A new connection replaces an established one only after its initiator has confirmed it, and
 * the number of unconfirmed connections is limited. So a replayed request does no harm.
 */
final class Connector {
  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);
  private static final int MIN_ACCEPTING = 8;
  private static final long COLLISION_RETRY_NS = Duration.ofMillis(20).toNanos();

  private final TransportContext context;
  private final ConnectionManager manager;
  private final ConnectionTable table;
  private final Peers peers;
  private final List<NetworkAddress> addresses;
  private final int readsInFlight;
  private final SecureRandom random = new SecureRandom();
  private final int maxAccepting;

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
    this.maxAccepting = Math.max(MIN_ACCEPTING, context.settings().maxConnections() / 4);
  }

  /** Initiates a connection to a peer. */
  void attempt(Peer peer, long nowNs) {
    assert context.owner().holds();
    if (!makeRoom(nowNs)) {
      peers.giveUpForNow(peer, FallbackReason.POOL_EMPTY, "too many connections");
      return;
    }
    try {
      AddressPair pair = AddressPair.of(addresses, peer.endpoint().addresses());
      Connection connection =
          manager.resolve(pair.destination(), pair.source(), context.settings().connectTimeout());
      peer.attempt(table.initiate(peer, connection));
    } catch (VerbsException e) {
      peers.giveUp(peer, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private boolean makeRoom(long nowNs) {
    if (!table.hasRoom()) {
      table
          .longestIdle(nowNs)
          .ifPresent(idle -> peers.end(idle, BrokenConnection.connectionLost("made room")));
    }
    return table.hasRoom();
  }

  /** Handles one event of the connection manager. */
  void onEvent(ConnectionEvent event, long nowNs) {
    assert context.owner().holds();
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      onRequest(event.connection(), event.privateData(), nowNs);
      return;
    }
    if (event.type() == ConnectionEvent.Type.DEVICE_REMOVED) {
      context.deviceRemoved().run();
    }
    if (event.connection() == null
        || !(event.connection().attachment() instanceof PeerConnection connection)
        || connection.isClosed()) {
      return;
    }
    switch (event.type()) {
      case RESOLVED -> onResolved(connection);
      case ESTABLISHED -> onEstablished(connection, event.privateData());
      case REJECTED -> onRejected(connection, event, nowNs);
      case RESOLVE_FAILED, UNREACHABLE, CONNECT_ERROR ->
          onConnectFailed(connection, event.type() + " " + event.reason());
      case DISCONNECTED, DEVICE_REMOVED ->
          connection.markBroken(
              BrokenConnection.connectionLost(event.type() + " " + event.reason()));
      case CONNECT_REQUEST -> throw new IllegalStateException("handled above");
    }
  }

  private void onConnectFailed(PeerConnection connection, String detail) {
    if (connection.isAttempt() || connection.isAccepting()) {
      fail(connection, FallbackReason.CONNECT_FAILED, detail);
    } else {
      // A responder may use the connection before its device reports ESTABLISHED.
      connection.markBroken(BrokenConnection.connectionLost(detail));
    }
  }

  private void fail(PeerConnection connection, FallbackReason reason, String detail) {
    Peer peer = connection.peer();
    boolean ours = connection.isAttempt();
    LOG.info(
        "Cannot connect to peer {}{}: reason={} detail={}",
        peer,
        ours ? " " + AddressPair.of(addresses, peer.endpoint().addresses()) : "",
        reason.label(),
        detail);
    peers.end(connection, BrokenConnection.connectionLost(detail));
    if (ours) {
      peers.giveUp(peer, reason, detail);
    }
  }

  private void onResolved(PeerConnection connection) {
    Peer peer = connection.peer();
    try {
      if (!connection.prepare()) {
        String detail = "no memory for control messages";
        peers.end(connection, BrokenConnection.connectionLost(detail));
        peers.giveUpForNow(peer, FallbackReason.POOL_EMPTY, detail);
        return;
      }
      connection.request(
          Hello.request(
              peer.generation(), peer.incarnation(), context.self().incarnation(), nonce()),
          readsInFlight);
    } catch (VerbsException e) {
      fail(connection, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private byte[] nonce() {
    byte[] nonce = new byte[Hello.NONCE_BYTES];
    random.nextBytes(nonce);
    return nonce;
  }

  private void onEstablished(PeerConnection connection, byte[] privateData) {
    if (!connection.isAttempt() || connection.broken() != null) {
      return;
    }
    try {
      if (connection.takeAnswer(privateData)) {
        peers.establish(connection);
      } else {
        fail(connection, FallbackReason.REFUSED, "peer did not prove who it is");
      }
    } catch (VerbsException e) {
      fail(connection, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private void onRejected(PeerConnection connection, ConnectionEvent event, long nowNs) {
    Refusal refusal = Hello.decodeRefusal(event.privateData());
    if (refusal == Refusal.COLLISION) {
      // The peer's own request wins. If it is lost, this executor retries.
      Peer peer = connection.peer();
      peers.end(connection, BrokenConnection.connectionLost("collision"));
      peer.retryAt(nowNs + COLLISION_RETRY_NS);
    } else if (refusal == Refusal.BUSY) {
      peers.end(connection, BrokenConnection.connectionLost("peer is busy"));
      peers.giveUpForNow(
          connection.peer(), FallbackReason.PEER_BUSY, "peer has no room for a connection");
    } else if (refusal == null) {
      fail(connection, FallbackReason.CONNECT_FAILED, "rejected " + event.reason());
    } else {
      fail(connection, FallbackReason.REFUSED, "refused " + refusal);
    }
  }

  private void onRequest(Connection connection, byte[] privateData, long nowNs) {
    Hello hello;
    try {
      hello = Hello.decode(privateData);
    } catch (MalformedMessageException e) {
      refuse(connection, Hello.refusalOf(privateData), e.getMessage());
      return;
    }
    Endpoint self = context.self();
    Binding binding =
        new Binding(
            connection.requestQueuePairNumber(),
            connection.remoteAddress().getAddress(),
            connection.localAddress().getAddress());
    if (hello.calleeIncarnation() != self.incarnation()) {
      refuse(connection, Refusal.INCARNATION, "not for this start of this executor");
    } else if (!hello.isProvenRequest(privateData, context.proofKey(self), binding)) {
      refuse(connection, Refusal.PROOF, "no proof of belonging to the application");
    } else {
      onProvenRequest(connection, binding, hello, nowNs);
    }
  }

  private void refuse(Connection connection, Refusal refusal, String detail) {
    if (refusal != Refusal.COLLISION) {
      context.counters().increment(Counter.CONNECTIONS_REFUSED);
      LOG.info("Refusing a connection request: reason={} detail={}", refusal, detail);
    }
    connection.reject(Hello.encodeRefusal(refusal));
    connection.close();
  }

  private void onProvenRequest(Connection connection, Binding binding, Hello hello, long nowNs) {
    Peer peer = peers.of(hello.callerIncarnation());
    boolean oursStands =
        peer.attempt() != null
            && Long.compareUnsigned(context.self().incarnation(), peer.incarnation()) < 0;
    boolean crossed =
        peer.established() != null
            && peer.established().isInitiator()
            && peer.established().ageNs(nowNs) < context.settings().connectTimeout().toNanos()
            && peer.isBehind(hello.generation());
    if (oursStands || crossed) {
      refuse(connection, Refusal.COLLISION, "both ends asked at once");
      return;
    }
    if (table.acceptingCount() >= maxAccepting) {
      refuse(connection, Refusal.BUSY, "too many connections are not confirmed");
      return;
    }
    if (!makeRoom(nowNs)) {
      refuse(connection, Refusal.BUSY, "too many connections");
      return;
    }
    accept(peer, connection, binding, hello);
  }

  private void accept(Peer peer, Connection connection, Binding binding, Hello hello) {
    int generation =
        (peer.isBehind(hello.generation()) ? peer.generation() : hello.generation()) + 1;
    PeerConnection accepted =
        table.respond(peer, connection, binding, hello, hello.answer(generation, nonce()));
    try {
      if (!accepted.prepare()) {
        connection.reject(Hello.encodeRefusal(Refusal.BUSY));
        peers.end(accepted, BrokenConnection.connectionLost("no memory for control messages"));
        return;
      }
      peer.addAccepting(accepted);
      accepted.answer(readsInFlight);
    } catch (VerbsException e) {
      fail(accepted, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }
}
