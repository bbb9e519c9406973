// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkCompletion;
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
  /** Reason why {@link #prepare} returns false. */
  static final String NO_MEMORY = "no memory for control messages or queues";

  private static final String NO_RECEIVE = "the device takes no receive";

  private final TransportContext context;
  private final TableSlot slot;
  private final Connection connection;
  private final ConnectionSetup setup;
  private final SetupExchange exchange;
  private final long bornNs;

  /** Time of birth, later by the pauses of the agent since then. */
  private long attemptSinceNs;

  private long establishedNs;
  private final ConnectionBuffers buffers;
  private Peer peer;
  private ConnectionQueues queues;
  private ConnectionCompletions completions;
  private FetchSide fetches;
  private ServeSide serves;
  private BrokenConnection broken;
  private long lastUsedNs;
  private boolean failureCounted;
  private boolean turnRequested;
  private boolean awaitsEnd;

  /**
   * Its slot in the agent's table.
   *
   * @param index part of every work request's id
   * @param number unique number that identifies the connection to the server
   * @param ready receives the connection when it requests a turn
   */
  record TableSlot(int index, long number, Consumer<PeerConnection> ready) {}

  private PeerConnection(
      TransportContext context,
      Peer peer,
      TableSlot slot,
      Connection connection,
      ConnectionSetup setup) {
    this.context = context;
    this.peer = peer;
    this.slot = slot;
    this.connection = connection;
    this.setup = setup;
    this.buffers = new ConnectionBuffers(context.control());
    this.exchange = new SetupExchange(context, connection, setup);
    this.bornNs = context.nanoClock().getAsLong();
    this.attemptSinceNs = bornNs;
    this.lastUsedNs = bornNs;
  }

  /** Creates a connection that this executor initiates; its address is being resolved. */
  static PeerConnection initiate(
      TransportContext context, Peer peer, TableSlot slot, Connection connection) {
    byte[] key = context.proofKey(peer.endpoint());
    return new PeerConnection(context, peer, slot, connection, ConnectionSetup.ofInitiator(key));
  }

  /**
   * Creates a connection that a peer initiates.
   *
   * @param peer a stranger until {@link #identify}, where the peer has sent no request yet
   */
  static PeerConnection respond(
      TransportContext context, Peer peer, TableSlot slot, Connection connection) {
    byte[] key = context.proofKey(context.self());
    return new PeerConnection(context, peer, slot, connection, ConnectionSetup.ofResponder(key));
  }

  Peer peer() {
    return peer;
  }

  /** The stranger has proven by its request which executor it is. */
  void identify(Peer caller) {
    peer = caller;
  }

  int index() {
    return slot.index();
  }

  long number() {
    return slot.number();
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
    establishedNs = context.nanoClock().getAsLong();
    queues.setupSends().end();
    requestTurn();
  }

  /** Fetches a block; requires {@link #isEstablished}. */
  void fetch(BlockProgress block) {
    fetches.fetch(block);
    requestTurn();
  }

  /** Fetches blocks; as {@link #fetch(BlockProgress)}. */
  void fetch(List<BlockProgress> blocks) {
    fetches.fetch(blocks);
    requestTurn();
  }

  /** There may be something to do for it other than at ticks. */
  void requestTurn() {
    if (!turnRequested) {
      turnRequested = true;
      slot.ready().accept(this);
    }
  }

  /** Its requested turn begins. */
  void beginTurn() {
    turnRequested = false;
  }

  long ageNs(long nowNs) {
    return nowNs - bornNs;
  }

  /** Time that the peer had for the set-up, without pauses of the agent. */
  long attemptNs(long nowNs) {
    return nowNs - attemptSinceNs;
  }

  /** The agent did not run for so long: that time does not count for the peer. */
  void addPause(long pauseNs, long nowNs) {
    attemptSinceNs = SetupExchange.later(attemptSinceNs, pauseNs, nowNs);
    exchange.addPause(pauseNs, nowNs);
  }

  /** Time since {@link #establish}. */
  long establishedForNs(long nowNs) {
    return nowNs - establishedNs;
  }

  long idleNs(long nowNs) {
    return nowNs - lastUsedNs;
  }

  /** Whether it has no open request in either direction. */
  boolean isIdle() {
    return fetches.isIdle() && serves.isIdle();
  }

  /** Whether the peer may be reading; a lease that expires ends the connection. */
  boolean hasLeases() {
    return serves.hasLeases();
  }

  /**
   * Whether it may be closed to make room for another one: neither end has an open request, and the
   * peer has no READ in flight. A peer that keeps a lease ends its READs after the request
   * time-out.
   */
  boolean mayMakeRoom(long nowNs) {
    return isEstablished()
        && isIdle()
        && (!serves.hasLeases() || idleNs(nowNs) > context.settings().requestTimeout().toNanos());
  }

  FetchSide fetches() {
    return fetches;
  }

  /** A new list of the blocks that it fetches. */
  List<BlockProgress> blocks() {
    return fetches == null ? List.of() : fetches.blocks();
  }

  /** Reason why it must be closed, or null. */
  BrokenConnection broken() {
    return broken;
  }

  /** Marks the connection as one that must be closed. The cause that says most counts. */
  void markBroken(BrokenConnection cause) {
    assert context.owner().holds();
    if (broken == null || broken.isLessThan(cause)) {
      broken = cause;
    }
    requestTurn();
  }

  /**
   * This attempt has failed: the next one goes to another address of the peer. It may fail in
   * several ways, as by a time-out and then a refusal, and counts once.
   */
  void countFailedAttempt() {
    if (!failureCounted) {
      failureCounted = true;
      peer.useNextAddress();
    }
  }

  /** It is broken, posts nothing more, and ends in one of the next turns. */
  void awaitEnd() {
    awaitsEnd = true;
    if (fetches != null) {
      fetches.stopPosting();
    }
  }

  /** Whether it only waits for its end, and is not used any more. */
  boolean awaitsEnd() {
    return awaitsEnd;
  }

  /**
   * Creates the queue pair and posts its receives.
   *
   * @return false when there is no memory for its control buffers, rings or receives
   * @throws VerbsException when the device refuses
   */
  boolean prepare() throws VerbsException {
    assert context.owner().holds();
    Optional<ConnectionQueues> opened =
        ConnectionQueues.open(
            context, connection, buffers, index(), isInitiator(), this::onReceiveRefused);
    if (opened.isEmpty()) {
      return false;
    }
    queues = opened.get();
    if (broken != null) {
      // The device takes no receive: a shortage on this side, and no failure of the peer.
      return false;
    }
    SendQueue sends = queues.sends();
    PostedReceives receives = queues.receives();
    fetches = new FetchSide(context, sends, buffers, receives, this::onServed, this::requestTurn);
    serves = new ServeSide(context, sends, buffers, receives, number(), this::onProtocolError);
    completions =
        new ConnectionCompletions(this, context, setup, exchange, buffers, queues, fetches, serves);
    exchange.useQueuePair(queues.queuePair(), queues.setupSends()::send);
    return true;
  }

  private void onServed() {
    if (peer.needsTest()) {
      peer.onServed();
      context.counters().quarantined().remove(peer.endpoint().executorId());
    }
  }

  private void onReceiveRefused() {
    markBroken(BrokenConnection.connectionLost(NO_RECEIVE));
  }

  /** Marks the connection broken by a protocol error that is already counted. */
  void onProtocolError(String reason) {
    markBroken(new BrokenConnection(FallbackReason.PROTOCOL_ERROR, reason, List.of()));
  }

  /** Handles a completion of its queue pair. */
  void onCompletion(WorkCompletion completion, long nowNs) {
    assert context.owner().holds();
    if (isClosed() || completion.queuePairNumber() != queues.queuePair().number()) {
      return;
    }
    requestTurn();
    completions.onCompletion(completion, nowNs);
  }

  /** All completions of a poll are handled, also of a connection that is broken. */
  void onPolled() {
    if (fetches != null) {
      fetches.deliverWholeBlocks();
    }
  }

  /** A message was received that shows that the connection is in use. */
  void used(long nowNs) {
    lastUsedNs = nowNs;
  }

  /** Notes whether the peer has taken messages since the last call. */
  void noteProgress(long nowNs) {
    queues.sends().noteProgress(nowNs);
  }

  /**
   * Whether the peer has taken no message for this long although one is posted. A request has a
   * deadline of its own; an answer and a RETURN have not.
   */
  boolean hasStalled(long nowNs, long timeoutNs) {
    return queues.sends().hasStalled(nowNs, timeoutNs);
  }

  /** Posts all work requests that can be posted. */
  void pump(long nowNs) {
    assert context.owner().holds();
    if (!isIdle()) {
      lastUsedNs = nowNs;
    }
    fetches.pump(nowNs);
    queues.flush();
  }

  /** Returns the credits that the peer has granted, so that it needs fewer receives. */
  void returnCredits() {
    assert context.owner().holds();
    fetches.returnCredits();
    queues.flush();
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
    List<BlockProgress> left = List.of();
    if (queues != null) {
      queues.close();
    }
    // After an Error in the middle of prepare there are queues, but not both sides.
    if (fetches != null) {
      left = fetches.abandon();
    }
    if (serves != null) {
      context.server().onPeerGone(number());
    }
    buffers.close();
    return left;
  }
}
