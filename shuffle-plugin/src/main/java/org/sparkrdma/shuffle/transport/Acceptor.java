// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.Hello.Refusal;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;

/**
 * Accepts or refuses the connection requests of peers. Owned by the agent.
 *
 * <p>On {@link HelloPath#PRIVATE_DATA} a request is checked before there is a queue pair. On {@link
 * HelloPath#SEND} the queue pair of an unknown peer is connected first, and its first message is
 * the request.
 *
 * <p>A new connection replaces an established one only after its initiator has confirmed it, and
 * the number of unconfirmed connections is limited. So a replayed request does no harm.
 *
 * <p>Two executors share one connection. When both initiate at once, the request of the lower
 * incarnation (unsigned) wins:
 *
 * <ul>
 *   <li>The <b>higher</b> accepts each request of the lower. Its own attempt stands until one of
 *       the two connections is established, and then ends.
 *   <li>The <b>lower</b> refuses with COLLISION while its own attempt is younger than {@link
 *       #UNANSWERED_NS}. Later its request or the answer is probably lost. Then it yields: it
 *       closes its own attempt, and accepts the request of the higher after that.
 * </ul>
 *
 * <p>Only the lower yields, so both ends never do so at the same time. So there are not two
 * connections: a connection is established by the CONFIRM of its initiator, and an attempt that is
 * closed sends none. Whatever is still on its way for that attempt has no effect: an answer is
 * dropped, since its connection is closed, and a late request leads at the higher to a connection
 * that is never confirmed, ends by the device's event or after {@code connect.timeout}, and
 * replaces nothing. Nor is there no connection: the request of the higher that made the lower yield
 * is answered, and the higher drops its attempt only for a connection that the lower confirms,
 * which is not the closed one.
 *
 * <p>An executor begins no attempt while it accepts a request, but for {@link #UNANSWERED_NS} only:
 * its answer may be lost, and any member can claim to be the peer and never confirm. After that the
 * lower, too, may have an attempt and an accepted request. It decides between them: it closes its
 * attempt when the request is confirmed first, and drops the request when it has confirmed its
 * attempt first ({@link Peers#confirmed}). The higher follows: that CONFIRM replaces the connection
 * of its own request, or ends its attempt.
 *
 * <p>A late request may also have crossed an attempt of this executor that the peer has accepted
 * meanwhile, or its sender may have lost the connection. The generation in the HELLO distinguishes
 * the two: it is the sender's count of connections.
 */
final class Acceptor {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
  private static final int MIN_UNCONFIRMED = 8;

  /**
   * Age at which an own attempt without an answer no longer stands against a request of the peer,
   * and a request without a CONFIRM no longer against an own attempt. Either takes some
   * milliseconds, and a device or JVM may pause for some hundreds.
   */
  static final long UNANSWERED_NS = 1_000_000_000;

  private final TransportContext context;
  private final ConnectionTable table;
  private final Peers peers;
  private final Nonces nonces;
  private final RefusalLog refusals;
  private final int readsInFlight;
  private final int maxUnconfirmed;
  private final HelloPath path;

  /** A request is refused. */
  private static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Refusal refusal;

    RefusedException(Refusal refusal, String detail) {
      super(detail, null, false, false);
      this.refusal = refusal;
    }
  }

  /**
   * @param readsInFlight maximum number of outstanding READs per queue pair
   */
  Acceptor(
      TransportContext context,
      ConnectionTable table,
      Peers peers,
      Nonces nonces,
      int readsInFlight) {
    this.context = context;
    this.table = table;
    this.peers = peers;
    this.nonces = nonces;
    this.readsInFlight = readsInFlight;
    this.maxUnconfirmed = Math.max(MIN_UNCONFIRMED, context.settings().maxConnections() / 4);
    this.path = HelloPath.of(context.device());
    this.refusals = new RefusalLog(context.nanoClock());
  }

  /** The device reports a connection request. */
  void onRequest(Connection connection, byte[] privateData, long nowNs) {
    try {
      if (path == HelloPath.SEND) {
        makeRoom(nowNs);
        prepare(table.respond(peers.stranger(), connection), SetupExchange::acceptWithoutRequest);
      } else {
        ConnectionBinding binding = binding(connection);
        Hello request = checkProof(privateData, binding);
        checkCollision(request, nowNs);
        makeRoom(nowNs);
        Peer caller = peers.of(request.callerIncarnation());
        PeerConnection accepted = table.respond(caller, connection);
        takeRequest(accepted, caller, binding, request, nowNs);
        prepare(accepted, SetupExchange::answer);
      }
    } catch (RefusedException e) {
      report(e, connection);
      connection.reject(rejection(e.refusal));
      connection.close();
    }
  }

  /** A peer that was connected without a request has sent it. */
  void onHello(PeerConnection connection, byte[] content, long nowNs) {
    try {
      ConnectionBinding binding = binding(connection.connection());
      Hello request = checkProof(content, binding);
      checkCollision(request, nowNs);
      Peer caller = peers.of(request.callerIncarnation());
      takeRequest(connection, caller, binding, request, nowNs);
      connection.setup().answer(readsInFlight);
    } catch (RefusedException e) {
      report(e, connection.connection());
      connection.setup().refuse(e.refusal);
    } catch (VerbsException e) {
      abandon(connection, e.getMessage());
    }
  }

  private static ConnectionBinding binding(Connection connection) {
    return ConnectionBinding.of(
        connection.requestQueuePairNumber(), connection.remoteAddress(), connection.localAddress());
  }

  private Hello checkProof(byte[] content, ConnectionBinding binding) throws RefusedException {
    Hello request;
    try {
      request = Hello.decode(content);
    } catch (MalformedMessageException e) {
      throw new RefusedException(Hello.refusalOf(content), e.getMessage());
    }
    Endpoint self = context.self();
    if (request.calleeIncarnation() != self.incarnation()) {
      throw new RefusedException(Refusal.INCARNATION, "not for this start of this executor");
    }
    if (!request.isProvenRequest(content, context.proofKey(self), binding)) {
      throw new RefusedException(Refusal.PROOF, "no proof of belonging to the application");
    }
    return request;
  }

  /** Creates no state: any member can send requests in the name of many executors. */
  private void checkCollision(Hello request, long nowNs) throws RefusedException {
    Peer caller = peers.find(request.callerIncarnation());
    if (caller == null) {
      return;
    }
    boolean ownAttemptStands =
        caller.attempt() != null
            && peers.isLowerThan(caller)
            && caller.attempt().ageNs(nowNs) < UNANSWERED_NS;
    boolean crossed =
        caller.established() != null
            && caller.established().isInitiator()
            && caller.established().establishedForNs(nowNs)
                < context.settings().connectTimeout().toNanos()
            && caller.isBehind(request.generation());
    if (ownAttemptStands || crossed) {
      throw new RefusedException(Refusal.COLLISION, "both ends sent a request");
    }
  }

  private void makeRoom(long nowNs) throws RefusedException {
    if (table.unconfirmedCount() >= maxUnconfirmed) {
      throw new RefusedException(Refusal.BUSY, "too many connections are not confirmed");
    }
    if (!peers.makeRoom(nowNs)) {
      throw new RefusedException(Refusal.BUSY, "too many connections");
    }
  }

  private void takeRequest(
      PeerConnection connection,
      Peer caller,
      ConnectionBinding binding,
      Hello request,
      long nowNs) {
    if (caller.attempt() != null && peers.isLowerThan(caller)) {
      // Before the answer, so that the peer can never have both.
      peers.yieldAttempt(caller.attempt(), "yields to the peer's request");
    }
    int generation =
        caller.isBehind(request.generation()) ? caller.generation() : request.generation();
    connection.identify(caller);
    connection.setup().takeRequest(binding, request, request.answer(generation + 1, nonces.next()));
    caller.addAccepting(connection, nowNs);
  }

  /** The next step once the queue pair exists. */
  private interface Reply {
    void send(SetupExchange exchange, int readsInFlight) throws VerbsException;
  }

  private void prepare(PeerConnection connection, Reply reply) {
    try {
      if (connection.prepare()) {
        reply.send(connection.setup(), readsInFlight);
      } else {
        connection.connection().reject(rejection(Refusal.BUSY));
        peers.end(connection, BrokenConnection.connectionLost(PeerConnection.NO_MEMORY));
      }
    } catch (VerbsException e) {
      abandon(connection, e.getMessage());
    }
  }

  private void abandon(PeerConnection connection, String detail) {
    context.peerLog().cannotAccept(connection.peer(), detail);
    peers.end(connection, BrokenConnection.connectionLost(detail));
  }

  private byte[] rejection(Refusal refusal) {
    return path == HelloPath.SEND ? new byte[0] : Hello.encodeRefusal(refusal);
  }

  private void report(RefusedException refused, Connection connection) {
    if (refused.refusal != Refusal.COLLISION) {
      context.counters().increment(Counter.CONNECTIONS_REFUSED);
      refusals
          .line(refused.refusal, connection.remoteAddress(), refused.getMessage())
          .ifPresent(LOG::info);
    }
  }
}
