// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.TransportSettings;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.MessageType;
import org.sparkrdma.verbs.QueuePair;
import org.sparkrdma.verbs.QueuePairSettings;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
import org.sparkrdma.verbs.WorkStatus;
import org.sparkrdma.verbs.cm.Connection;

/**
 * One connection to a peer, used by both for fetching and serving. Owned by the agent. Its set-up
 * goes through the transitions of {@link ConnectionSetup}.
 *
 * <p>The queue pair is created without remote access; the peer gets it after its proof. Before that
 * every message but those of the set-up is a protocol error.
 *
 * <p>The initiator sends first on every transport; the responder must not (RFC 5044, section 7.1.2;
 * kernel siw closes the connection otherwise).
 *
 * <p>Closing destroys the queue pair before it frees any memory.
 */
final class PeerConnection {
  private static final Logger LOG = LoggerFactory.getLogger(PeerConnection.class);

  /** Why {@link #prepare} returns false. */
  static final String NO_MEMORY = "no memory for control messages or queues";

  private final TransportContext context;
  private final Place place;
  private final Connection connection;
  private final ConnectionSetup setup;
  private final SetupExchange exchange;
  private final long bornNs;
  private final ConnectionBuffers buffers;
  private Peer peer;
  private CompletionQueues.Rings rings;
  private QueuePair queuePair;
  private PostedReceives receives;
  private SendQueue sends;
  private SetupSends setupSends;
  private FetchSide fetches;
  private ServeSide serves;
  private BrokenConnection broken;
  private long lastUsedNs;
  private boolean turnWanted;

  /**
   * Its place in the agent's table.
   *
   * @param index part of every work request's id
   * @param number unique number that identifies the connection to the server
   * @param ready receives the connection when it wants a turn
   */
  record Place(int index, long number, Consumer<PeerConnection> ready) {}

  private PeerConnection(
      TransportContext context,
      Peer peer,
      Place place,
      Connection connection,
      ConnectionSetup setup) {
    this.context = context;
    this.peer = peer;
    this.place = place;
    this.connection = connection;
    this.setup = setup;
    this.buffers = new ConnectionBuffers(context.control());
    this.exchange = new SetupExchange(context, connection, setup);
    this.bornNs = context.nanoClock().getAsLong();
    this.lastUsedNs = bornNs;
  }

  /** Creates a connection that this executor initiates; its address is being resolved. */
  static PeerConnection initiate(
      TransportContext context, Peer peer, Place place, Connection connection) {
    byte[] key = context.proofKey(peer.endpoint());
    return new PeerConnection(context, peer, place, connection, ConnectionSetup.ofInitiator(key));
  }

  /**
   * Creates a connection that a peer initiates.
   *
   * @param peer a stranger until {@link #identify}, where the peer has sent no request yet
   */
  static PeerConnection greet(
      TransportContext context, Peer peer, Place place, Connection connection) {
    byte[] key = context.proofKey(context.self());
    return new PeerConnection(context, peer, place, connection, ConnectionSetup.ofResponder(key));
  }

  Peer peer() {
    return peer;
  }

  /** The stranger has proven by its request which executor it is. */
  void identify(Peer caller) {
    peer = caller;
  }

  int index() {
    return place.index();
  }

  long number() {
    return place.number();
  }

  Connection connection() {
    return connection;
  }

  /** Its set-up, until it is established. */
  SetupExchange setup() {
    return exchange;
  }

  /** Whether this executor initiated it. */
  boolean isInitiator() {
    return setup.isInitiator();
  }

  /** Whether it is established and in use. */
  boolean isEstablished() {
    return setup.isEstablished();
  }

  /** Whether the peer is proven, but {@link #establish} was not called yet. */
  boolean isReadyToEstablish() {
    return setup.state() == ConnectionSetup.State.PROVEN;
  }

  /** Whether the peer initiated it and has not confirmed it yet. */
  boolean isUnconfirmed() {
    return setup.isUnconfirmed();
  }

  /** Whether this executor initiated it and has no answer yet. */
  boolean isAttempt() {
    return setup.isAttempt();
  }

  boolean isClosed() {
    return setup.state() == ConnectionSetup.State.CLOSED;
  }

  /** Generation of the connection; known after the peer is proven. */
  int generation() {
    return setup.generation();
  }

  /** Allows fetches over this connection; the peer must be proven. */
  void establish() {
    assert context.owner().holds();
    setup.establish();
    setupSends.end();
    wantTurn();
  }

  /** Fetches a block; requires {@link #isEstablished}. */
  void want(BlockProgress block) {
    fetches.want(block);
    wantTurn();
  }

  /** There may be something to do for it other than at ticks. */
  private void wantTurn() {
    if (!turnWanted) {
      turnWanted = true;
      place.ready().accept(this);
    }
  }

  /** It gets the turn that it wanted. */
  void beginTurn() {
    turnWanted = false;
  }

  long ageNs(long nowNs) {
    return nowNs - bornNs;
  }

  long idleNs(long nowNs) {
    return nowNs - lastUsedNs;
  }

  /** Whether it has no open request in either direction. */
  boolean isIdle() {
    return fetches.isIdle() && serves.isIdle();
  }

  FetchSide fetches() {
    return fetches;
  }

  /** Why it must be closed, or null. */
  BrokenConnection broken() {
    return broken;
  }

  /**
   * Marks the connection as one that must be closed. The first cause that names a block counts: a
   * disconnect event may be received before the failed completion that caused it.
   */
  void markBroken(BrokenConnection cause) {
    assert context.owner().holds();
    if (broken == null || broken.atFault().isEmpty()) {
      broken = cause;
    }
    wantTurn();
  }

  /**
   * Creates the queue pair and posts its receives.
   *
   * @return false when there is no memory for its control buffers and rings
   * @throws VerbsException when the device refuses
   */
  boolean prepare() throws VerbsException {
    assert context.owner().holds();
    List<ControlBuffer> first = takeFirstBuffers();
    rings = first.isEmpty() ? null : context.completions().tryTake().orElse(null);
    if (rings == null) {
      return false;
    }
    queuePair =
        connection.createQueuePair(
            context.domain(),
            new QueuePairSettings(
                rings.completionQueue(),
                rings.completionQueue(),
                context.settings().sendDepth(),
                context.settings().receiveDepth(),
                1,
                0,
                SetupExchange.initialAccess(context)));
    sends = new SendQueue(queuePair, context.settings().sendDepth(), WorkIds.sends(index()));
    receives =
        new PostedReceives(queuePair, context.settings().receiveDepth(), WorkIds.receives(index()));
    setupSends = new SetupSends(sends, buffers, first.remove(0));
    fetches = new FetchSide(context, sends, buffers, receives, this::wantFromAnyThread);
    serves = new ServeSide(context, sends, buffers, receives, number(), this::onProtocolError);
    exchange.useQueuePair(queuePair, setupSends::send);
    first.forEach(receives::post);
    return true;
  }

  /** Buffers for the set-up's sends and for receives; empty when there is no memory. */
  private List<ControlBuffer> takeFirstBuffers() {
    List<ControlBuffer> first = new ArrayList<>();
    // The responder's receive for the CONFIRM: two requests may follow it at once.
    int setup = isInitiator() ? 1 : 2;
    int count = setup + TransportSettings.RECEIVES_WHEN_IDLE;
    Optional<ControlBuffer> taken = Optional.empty();
    if (context.control().fillReserve()) {
      taken = buffers.tryTake();
    }
    while (taken.isPresent() && first.size() < count - 1) {
      first.add(taken.get());
      taken = buffers.tryTake();
    }
    if (taken.isEmpty()) {
      return List.of();
    }
    first.add(taken.get());
    return first;
  }

  private void wantFromAnyThread(BlockProgress block) {
    peer.wantFromAnyThread(block);
  }

  private void countProtocolError(String reason) {
    context.counters().increment(Counter.PROTOCOL_ERRORS);
    onProtocolError(reason);
  }

  /** Marks the connection broken by a protocol error that is already counted. */
  private void onProtocolError(String reason) {
    markBroken(new BrokenConnection(FallbackReason.PROTOCOL_ERROR, reason, List.of()));
  }

  /** Handles a completion of its queue pair. */
  void onCompletion(WorkCompletion completion, long nowNs) {
    assert context.owner().holds();
    if (isClosed() || completion.queuePairNumber() != queuePair.number()) {
      return;
    }
    wantTurn();
    if (!completion.succeeded()) {
      fail(completion.status(), completion.requestId());
    } else if (WorkIds.isReceive(completion.requestId())) {
      ControlBuffer received = receives.completed(completion.requestId());
      if (broken == null || isAttempt()) {
        // The message may be the refusal that a disconnect event has overtaken.
        onMessage(received, (int) completion.byteLength(), nowNs);
      }
    } else {
      sends.completed(completion.requestId());
    }
  }

  private void fail(WorkStatus status, long id) {
    if (isAttempt() || setup.state() == ConnectionSetup.State.REFUSED) {
      // A refusal flushes the receives. On iWARP the flush may arrive before the refusal, which
      // contains the reason. Every attempt ends with an event.
      return;
    }
    if (WorkIds.isReceive(id) && isMessageTooLong(status)) {
      countProtocolError("message longer than its buffer");
      return;
    }
    Posted failed = WorkIds.isReceive(id) ? null : sends.outstanding(id);
    String detail = "completion failed: status=" + status + " " + fetches.silence();
    if (broken == null) {
      LOG.info("Connection to peer {} failed: {}", peer, detail);
    }
    // A flush error does not identify the failed request; siw completes all with it.
    if (failed instanceof ReadOperation read && status != WorkStatus.FLUSH_ERROR) {
      markBroken(
          new BrokenConnection(
              FallbackReason.READ_ERROR, detail, FetchSide.blocksOf(read.batch())));
    } else {
      markBroken(BrokenConnection.connectionLost(detail));
    }
  }

  /** Whether a failed receive means a message that is too long; rxe reports the second status. */
  private static boolean isMessageTooLong(WorkStatus status) {
    return status == WorkStatus.LOCAL_LENGTH_ERROR || status == WorkStatus.LOCAL_QUEUE_PAIR_ERROR;
  }

  private void onMessage(ControlBuffer received, int lengthBytes, long nowNs) {
    try {
      var message = received.message(lengthBytes);
      MessageType type = MessageType.of(message);
      if (type != MessageType.HELLO && type != MessageType.CONFIRM && !setup.isPeerProven()) {
        throw new MalformedMessageException(type + " of a peer that is not proven");
      }
      if (type != MessageType.RETURN) {
        lastUsedNs = nowNs;
      }
      switch (type) {
        case LOCATE -> serves.onLocate(received, message);
        case LOCATED -> {
          fetches.onLocated(message, nowNs);
          buffers.giveBack(received);
        }
        case RELEASE -> {
          // Post the receive before the answer: the peer may send its next request at once.
          serves.onRelease(message);
          receives.post(received);
        }
        case RELEASED -> {
          fetches.onReleased(message);
          buffers.giveBack(received);
        }
        case RETURN -> {
          serves.onReturn(message);
          buffers.giveBack(received);
        }
        case CONFIRM -> {
          exchange.onConfirm(message);
          buffers.giveBack(received);
        }
        case HELLO -> {
          exchange.onHello(message);
          receives.post(received);
        }
      }
    } catch (MalformedMessageException e) {
      countProtocolError(e.getMessage());
    } catch (VerbsException e) {
      markBroken(BrokenConnection.connectionLost(e.getMessage()));
    }
  }

  /** Posts all work requests that can be posted. */
  void pump(long nowNs) {
    assert context.owner().holds();
    if (!isIdle()) {
      lastUsedNs = nowNs;
    }
    fetches.pump(nowNs);
    sends.flush();
  }

  /** Returns the credits that the peer has granted, so that it needs fewer receives. */
  void returnCredits() {
    assert context.owner().holds();
    fetches.returnCredits();
    sends.flush();
  }

  /**
   * Closes it: destroys the queue pair, then frees memory and ends the leases of the peer.
   *
   * @return the blocks that it was fetching
   */
  List<BlockProgress> close() {
    assert context.owner().holds();
    if (isClosed()) {
      return List.of();
    }
    setup.close();
    connection.close();
    if (rings != null) {
      rings.close();
    }
    List<BlockProgress> left = List.of();
    if (fetches != null) {
      left = fetches.abandon();
      serves.close();
      context.server().peerGone(number());
    }
    buffers.close();
    return left;
  }
}
