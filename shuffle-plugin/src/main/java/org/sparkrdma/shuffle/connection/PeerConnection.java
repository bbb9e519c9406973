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
package org.sparkrdma.shuffle.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.wire.Binding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.MessageType;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.device.Capability;

/**
 * One connection to a peer, used by both for fetching and serving. Owned by the agent. Its set-up
 * goes through the transitions of {@link ConnectionSetup}.
 *
 * <p>The queue pair is made without remote access; the peer gets it once it is proven. Before that
 * every message but the responder's CONFIRM is a protocol error.
 *
 * <p>The initiator sends first: the responder may not (RFC 5044, section 7.1.2; kernel siw ends the
 * connection otherwise). On every transport alike.
 *
 * <p>Closing destroys the queue pair before any memory is given back.
 */
public final class PeerConnection {
  private static final Logger LOG = LoggerFactory.getLogger(PeerConnection.class);
  private static final Set<AccessFlag> REMOTE_ACCESS = Set.of(AccessFlag.REMOTE_READ);

  private final TransportContext context;
  private final Peer peer;
  private final int place;
  private final long number;
  private final Connection connection;
  private final ConnectionSetup setup;
  private final long bornNs;
  private final List<ControlSlot> slots = new ArrayList<>();
  private final WorkRequest receive = new WorkRequest(1);
  private QueuePair queuePair;
  private SendQueue sends;
  private FetchSide fetches;
  private ServeSide serves;
  private BrokenConnection broken;
  private long lastUsedNs;

  /**
   * @param place index in the agent's table, part of every work request's id
   * @param number never used again; by it the server knows the connection
   */
  private PeerConnection(
      TransportContext context,
      Peer peer,
      int place,
      long number,
      Connection connection,
      ConnectionSetup setup) {
    this.context = context;
    this.peer = peer;
    this.place = place;
    this.number = number;
    this.connection = connection;
    this.setup = setup;
    this.bornNs = context.nanoClock().getAsLong();
    this.lastUsedNs = bornNs;
  }

  /** One that this end asks for, being resolved. */
  public static PeerConnection initiate(
      TransportContext context, Peer peer, int place, long number, Connection connection) {
    byte[] key = context.proofKey(peer.endpoint());
    return new PeerConnection(
        context, peer, place, number, connection, ConnectionSetup.ofInitiator(key));
  }

  /** One that the peer asks for with this proven request, to be answered so. */
  public static PeerConnection respond(
      TransportContext context,
      Peer peer,
      int place,
      long number,
      Connection connection,
      Binding binding,
      Hello request,
      Hello answer) {
    byte[] key = context.proofKey(context.self());
    return new PeerConnection(
        context,
        peer,
        place,
        number,
        connection,
        ConnectionSetup.ofResponder(key, binding, request, answer));
  }

  public Peer peer() {
    return peer;
  }

  public int place() {
    return place;
  }

  public long number() {
    return number;
  }

  public Connection connection() {
    return connection;
  }

  /** Whether this end has asked for it. */
  public boolean isInitiator() {
    return setup.isInitiator();
  }

  /** Whether it is made and in use. */
  public boolean isEstablished() {
    return setup.isEstablished();
  }

  /** Whether the peer is proven, but nobody has been told yet. */
  public boolean isReadyToEstablish() {
    return setup.state() == ConnectionSetup.State.PROVEN;
  }

  /** Whether the peer has asked for it and has not proven itself yet. */
  public boolean isAccepting() {
    return setup.state() == ConnectionSetup.State.ACCEPTING;
  }

  /** Whether this end is still asking for it. */
  public boolean isAttempt() {
    return setup.state() == ConnectionSetup.State.RESOLVING
        || setup.state() == ConnectionSetup.State.CONNECTING;
  }

  public boolean isClosed() {
    return setup.state() == ConnectionSetup.State.CLOSED;
  }

  /** Connections between the two from this one on; once the peer is proven. */
  public int generation() {
    return setup.generation();
  }

  /**
   * Initiator: asks the peer for the connection, after it is resolved and prepared.
   *
   * @throws VerbsException when the request cannot be sent
   */
  public void request(Hello hello, int readsInFlight) throws VerbsException {
    assert context.owner().holds();
    byte[] privateData =
        setup.request(
            hello,
            context.device().can(Capability.REQUEST_TELLS_QUEUE_PAIR) ? queuePair.number() : 0,
            connection.localAddress().getAddress(),
            connection.remoteAddress().getAddress());
    connection.connect(parameters(privateData, readsInFlight));
  }

  /**
   * Responder: answers the peer's request, after it is prepared.
   *
   * @throws VerbsException when the answer cannot be sent
   */
  public void answer(int readsInFlight) throws VerbsException {
    assert context.owner().holds();
    connection.accept(parameters(setup.answer(), readsInFlight));
  }

  private ConnectionParameters parameters(byte[] privateData, int readsInFlight) {
    // Receives are always posted, but a pause of the peer's JVM may keep them back: wait for ever,
    // since every request has a deadline of its own.
    return new ConnectionParameters(
        privateData, readsInFlight, 6, 7, 17, context.settings().connectTimeout());
  }

  /**
   * Initiator: takes the peer's answer. When it proves the peer, gives it remote access and sends
   * the confirmation.
   *
   * @return whether the peer is proven
   * @throws VerbsException when the device does not give access
   */
  public boolean takeAnswer(byte[] privateData) throws VerbsException {
    assert context.owner().holds();
    if (broken != null || !setup.takeAnswer(privateData)) {
      return false;
    }
    grantRemoteAccess();
    fetches.confirm(setup::writeConfirm);
    sends.flush();
    return true;
  }

  /** The peer is proven and told of: blocks may be fetched over it. */
  public void establish() {
    assert context.owner().holds();
    setup.establish();
  }

  private void grantRemoteAccess() throws VerbsException {
    if (context.device().can(Capability.QUEUE_PAIR_ACCESS)) {
      queuePair.setRemoteAccess(REMOTE_ACCESS);
    }
  }

  public long ageNs(long nowNs) {
    return nowNs - bornNs;
  }

  public long idleNs(long nowNs) {
    return nowNs - lastUsedNs;
  }

  /** Whether it has no open request in either direction. */
  public boolean isIdle() {
    return fetches.isIdle() && serves.isIdle();
  }

  public FetchSide fetches() {
    return fetches;
  }

  /** Why it must be ended, or null. */
  public BrokenConnection broken() {
    return broken;
  }

  /**
   * Marks the connection as one that must be closed. The first cause that names a block counts: a
   * disconnect event may be received before the failed completion that caused it.
   */
  public void markBroken(BrokenConnection cause) {
    assert context.owner().holds();
    if (broken == null || broken.atFault().isEmpty()) {
      broken = cause;
    }
  }

  /**
   * Makes the queue pair and posts its receives.
   *
   * @return false when there is no memory for its control buffers
   * @throws VerbsException when the device refuses
   */
  public boolean prepare() throws VerbsException {
    assert context.owner().holds();
    for (int i = 0; i < context.settings().slotsPerConnection(); i++) {
      Optional<RegisteredChunk> chunk = context.control().tryTake();
      if (chunk.isEmpty()) {
        return false;
      }
      slots.add(new ControlSlot(i, chunk.get()));
    }
    queuePair =
        connection.createQueuePair(
            context.domain(),
            new QueuePairSettings(
                context.completions(),
                context.completions(),
                context.settings().sendDepth(),
                context.settings().receiveDepth(),
                1,
                0,
                context.device().can(Capability.QUEUE_PAIR_ACCESS) ? Set.of() : REMOTE_ACCESS));
    sends = new SendQueue(queuePair, context.settings().sendDepth(), WorkIds.sends(place));
    int receives = context.settings().receiveDepth();
    int requests = receives + context.settings().requestsOpen();
    fetches =
        new FetchSide(context, sends, slots.subList(receives, requests), peer::wantFromAnyThread);
    serves =
        new ServeSide(
            context,
            sends,
            slots.subList(requests, slots.size()),
            number,
            this::receiveAgain,
            this::brokeProtocol);
    for (int i = 0; i < receives; i++) {
      receiveAgain(slots.get(i));
    }
    return true;
  }

  private void receiveAgain(ControlSlot slot) {
    receive.receive(WorkIds.receives(place) | slot.index());
    receive.local(slot.chunk().region(), slot.chunk().regionOffset(), slot.chunk().lengthBytes());
    if (!queuePair.postReceive(receive)) {
      throw new IllegalStateException(
          "receive queue full: depth=" + context.settings().receiveDepth());
    }
  }

  private void protocolError(String reason) {
    context.counters().increment(Counter.PROTOCOL_ERRORS);
    brokeProtocol(reason);
  }

  /** The peer broke the protocol, and that is counted. */
  private void brokeProtocol(String reason) {
    markBroken(new BrokenConnection(FallbackReason.PROTOCOL_ERROR, reason, List.of()));
  }

  /** A completion of its queue pair. */
  public void onCompletion(WorkCompletion completion, long nowNs) {
    assert context.owner().holds();
    if (isClosed() || completion.queuePairNumber() != queuePair.number()) {
      return;
    }
    if (!completion.succeeded()) {
      fail(completion.status(), completion.requestId());
    } else if (WorkIds.isReceive(completion.requestId())) {
      lastUsedNs = nowNs;
      if (broken == null) {
        ControlSlot slot = slots.get((int) (completion.requestId() & WorkIds.LOW_MASK));
        onMessage(slot, (int) completion.byteLength(), nowNs);
      }
    } else {
      sends.completed(completion.requestId());
    }
  }

  private void fail(WorkStatus status, long id) {
    if (isAttempt()) {
      // Refused, and its receives are flushed: on iWARP the flush may arrive before the refusal,
      // which
      // contains the reason. An event ends every attempt.
      return;
    }
    if (WorkIds.isReceive(id) && isOfAMessageTooLong(status)) {
      protocolError("message longer than its buffer");
      return;
    }
    Posted failed = WorkIds.isReceive(id) ? null : sends.outstanding(id);
    String detail = "completion failed: status=" + status + " " + fetches.silence();
    if (broken == null) {
      LOG.info("Connection to peer {} failed: {}", peer, detail);
    }
    // A flush tells nothing of whose fault it was, see siw in the design notes.
    if (failed instanceof ReadOperation read && status != WorkStatus.FLUSH_ERROR) {
      markBroken(
          new BrokenConnection(
              FallbackReason.READ_ERROR, detail, FetchSide.blocksOf(read.batch())));
    } else {
      markBroken(BrokenConnection.connectionLost(detail));
    }
  }

  /** Of a failed receive; the second is rxe's. */
  private static boolean isOfAMessageTooLong(WorkStatus status) {
    return status == WorkStatus.LOCAL_LENGTH_ERROR || status == WorkStatus.LOCAL_QUEUE_PAIR_ERROR;
  }

  private void onMessage(ControlSlot slot, int lengthBytes, long nowNs) {
    try {
      var message = slot.message(lengthBytes);
      MessageType type = MessageType.of(message);
      if (type != MessageType.CONFIRM && !setup.isPeerProven()) {
        throw new MalformedMessageException(type + " of a peer that is not proven");
      }
      switch (type) {
        case LOCATE -> serves.onLocate(slot, message);
        case LOCATED -> {
          fetches.onLocated(message, nowNs);
          receiveAgain(slot);
        }
        case RELEASE -> {
          // The receive goes back before the answer leaves: the peer may ask again at once.
          serves.onRelease(message);
          receiveAgain(slot);
        }
        case RELEASED -> {
          fetches.onReleased(message);
          receiveAgain(slot);
        }
        case CONFIRM -> {
          setup.takeConfirm(message);
          receiveAgain(slot);
          grantRemoteAccess();
        }
      }
    } catch (MalformedMessageException e) {
      protocolError(e.getMessage());
    } catch (VerbsException e) {
      markBroken(BrokenConnection.connectionLost(e.getMessage()));
    }
  }

  /** Posts what can be posted. */
  public void pump(long nowNs) {
    assert context.owner().holds();
    if (!isIdle()) {
      lastUsedNs = nowNs;
    }
    fetches.pump(nowNs);
    sends.flush();
  }

  /**
   * Ends it: first the queue pair is destroyed, then memory goes back, leases of the peer end, and
   * the blocks that it was fetching are returned.
   */
  public List<BlockProgress> close() {
    assert context.owner().holds();
    if (isClosed()) {
      return List.of();
    }
    setup.close();
    connection.close();
    List<BlockProgress> left = List.of();
    if (fetches != null) {
      left = fetches.abandon();
      serves.close();
      context.server().peerGone(number);
    }
    slots.forEach(slot -> slot.chunk().release());
    slots.clear();
    return left;
  }
}
