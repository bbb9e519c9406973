/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.transport;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.connection.BrokenConnection;
import org.sparkrdma.shuffle.connection.Peer;
import org.sparkrdma.shuffle.connection.PeerConnection;
import org.sparkrdma.shuffle.connection.TransportContext;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Hello.Refusal;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionManager;
import org.sparkrdma.verbs.cm.ConnectionParameters;

/**
 * Makes connections: asks for them, and takes or refuses those that peers ask for. Owned by the
 * agent.
 *
 * <p>Two executors share one connection. When both ask at once, the request of the lower
 * incarnation (unsigned) stands: the other end takes it and drops its own. A request that crossed
 * on the wire with one that was accepted meanwhile is told apart from one of a peer that has lost
 * its connection by the generation in its HELLO, which counts the connections the sender knows of.
 */
public final class Connector {
  private static final Logger LOG = LoggerFactory.getLogger(Connector.class);
  private static final long COLLISION_RETRY_NS = Duration.ofMillis(20).toNanos();

  private final TransportContext context;
  private final ConnectionManager manager;
  private final ConnectionTable table;
  private final Peers peers;
  private final int readsInFlight;
  private final SecureRandom random = new SecureRandom();
  private long requests;

  /**
   * @param readsInFlight READs that the device bears outstanding on a queue pair
   */
  Connector(
      TransportContext context,
      ConnectionManager manager,
      ConnectionTable table,
      Peers peers,
      int readsInFlight) {
    this.context = context;
    this.manager = manager;
    this.table = table;
    this.peers = peers;
    this.readsInFlight = readsInFlight;
  }

  /** Asks a peer for a connection. */
  void attempt(Peer peer, long nowNs) {
    assert context.owner().holds();
    Endpoint endpoint = peer.endpoint();
    if (!makeRoom(nowNs)) {
      peers.giveUpForNow(peer, FallbackReason.POOL_EMPTY, "too many connections");
      return;
    }
    try {
      Connection connection =
          manager.resolve(
              new InetSocketAddress(endpoint.host(), endpoint.port()),
              null,
              context.settings().connectTimeout());
      peer.attempt(table.add(peer, connection, PeerConnection.State.RESOLVING));
    } catch (VerbsException e) {
      peers.giveUp(peer, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private boolean makeRoom(long nowNs) {
    if (!table.hasRoom()) {
      table
          .longestIdle(nowNs)
          .ifPresent(idle -> peers.end(idle, BrokenConnection.nobodysFault("made room")));
    }
    return table.hasRoom();
  }

  /** Takes one event of the connection manager. */
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
        || connection.state() == PeerConnection.State.CLOSED) {
      return;
    }
    switch (event.type()) {
      case RESOLVED -> onResolved(connection);
      case ESTABLISHED -> onEstablished(connection, event.privateData(), nowNs);
      case REJECTED -> onRejected(connection, event, nowNs);
      case RESOLVE_FAILED, UNREACHABLE, CONNECT_ERROR ->
          fail(connection, FallbackReason.CONNECT_FAILED, event.type() + " " + event.reason());
      case DISCONNECTED, DEVICE_REMOVED ->
          connection.breaks(BrokenConnection.nobodysFault(event.type() + " " + event.reason()));
      case CONNECT_REQUEST -> throw new IllegalStateException("handled above");
    }
  }

  private void fail(PeerConnection connection, FallbackReason reason, String detail) {
    Peer peer = connection.peer();
    boolean ours = connection.state() != PeerConnection.State.ACCEPTING;
    LOG.info("no connection to a peer: reason={} detail={}", reason.label(), detail);
    peers.end(connection, BrokenConnection.nobodysFault(detail));
    if (ours) {
      peers.giveUp(peer, reason, detail);
    }
  }

  private void onResolved(PeerConnection connection) {
    Peer peer = connection.peer();
    try {
      if (!connection.prepare()) {
        String detail = "no memory for control messages";
        peers.end(connection, BrokenConnection.nobodysFault(detail));
        peers.giveUpForNow(peer, FallbackReason.POOL_EMPTY, detail);
        return;
      }
      requests++;
      connection.hello(
          Hello.of(
              peer.generation(),
              peer.incarnation(),
              context.self().incarnation(),
              requests,
              random.nextLong()));
      connection.state(PeerConnection.State.CONNECTING);
      connection
          .connection()
          .connect(parameters(connection.hello().encodeRequest(context.proofKey(peer.endpoint()))));
    } catch (VerbsException e) {
      fail(connection, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private ConnectionParameters parameters(byte[] privateData) {
    // Receives are always posted, but a pause of the peer's JVM may keep them back: wait for ever,
    // since every request has a deadline of its own.
    return new ConnectionParameters(
        privateData, readsInFlight, 6, 7, 17, context.settings().connectTimeout());
  }

  private void onEstablished(PeerConnection connection, byte[] privateData, long nowNs) {
    if (connection.state() == PeerConnection.State.ACCEPTING) {
      connection.accepted();
      return;
    }
    try {
      Hello answer = Hello.decode(privateData);
      if (answer.answers(connection.hello())
          && Hello.provesAnswer(privateData, context.proofKey(connection.peer().endpoint()))) {
        connection.speakFirst(nowNs);
        peers.established(connection, answer.generation());
        return;
      }
    } catch (MalformedMessageException e) {
      LOG.debug("malformed answer to a connection request", e);
    }
    fail(connection, FallbackReason.REFUSED, "peer did not prove who it is");
  }

  private void onRejected(PeerConnection connection, ConnectionEvent event, long nowNs) {
    Refusal refusal = Hello.decodeRefusal(event.privateData());
    if (refusal == Refusal.COLLISION) {
      // The peer's own request stands, or is on its way; should it be lost, ours is made again.
      Peer peer = connection.peer();
      peers.end(connection, BrokenConnection.nobodysFault("collision"));
      peer.retryAt(nowNs + COLLISION_RETRY_NS);
    } else if (refusal == Refusal.BUSY) {
      peers.end(connection, BrokenConnection.nobodysFault("peer is busy"));
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
    if (hello.calleeIncarnation() != self.incarnation()) {
      refuse(connection, Refusal.INCARNATION, "not for this start of this executor");
    } else if (!Hello.provesRequest(privateData, context.proofKey(self))) {
      refuse(connection, Refusal.PROOF, "no proof of belonging to the application");
    } else {
      onProvenRequest(connection, hello, nowNs);
    }
  }

  private void refuse(Connection connection, Refusal refusal, String detail) {
    if (refusal != Refusal.COLLISION) {
      context.counters().increment(Counter.CONNECTIONS_REFUSED);
      LOG.info("connection refused: reason={} detail={}", refusal, detail);
    }
    connection.reject(Hello.encodeRefusal(refusal));
    connection.close();
  }

  private void onProvenRequest(Connection connection, Hello hello, long nowNs) {
    Peer peer = peers.of(hello.callerIncarnation());
    if (!peer.isNews(hello.sequence())) {
      refuse(connection, Refusal.PROOF, "a request that was heard before");
      return;
    }
    boolean oursStands =
        peer.attempt() != null
            && Long.compareUnsigned(context.self().incarnation(), peer.incarnation()) < 0;
    boolean crossed =
        peer.established() != null
            && peer.established().ageNs(nowNs) < context.settings().connectTimeout().toNanos()
            && peer.isBehind(hello.generation());
    if (oursStands || crossed) {
      refuse(connection, Refusal.COLLISION, "both ends asked at once");
      return;
    }
    if (!makeRoom(nowNs)) {
      refuse(connection, Refusal.BUSY, "too many connections");
      return;
    }
    accept(peer, connection, hello);
  }

  private void accept(Peer peer, Connection connection, Hello hello) {
    int generation =
        (peer.isBehind(hello.generation()) ? peer.generation() : hello.generation()) + 1;
    PeerConnection accepted = table.add(peer, connection, PeerConnection.State.ACCEPTING);
    try {
      if (!accepted.prepare()) {
        connection.reject(Hello.encodeRefusal(Refusal.BUSY));
        peers.end(accepted, BrokenConnection.nobodysFault("no memory for control messages"));
        return;
      }
      accepted.hello(hello.answer(generation));
      replace(peer.attempt());
      replace(peer.accepting());
      replace(peer.established());
      peer.accepting(accepted);
      connection.accept(
          parameters(accepted.hello().encodeAnswer(context.proofKey(context.self()))));
    } catch (VerbsException e) {
      fail(accepted, FallbackReason.CONNECT_FAILED, e.getMessage());
    }
  }

  private void replace(PeerConnection old) {
    if (old != null) {
      peers.end(old, BrokenConnection.nobodysFault("replaced by the peer's request"));
    }
  }
}
