// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.OpenLocate;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Locate;
import org.sparkrdma.shuffle.wire.Located;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.Release;
import org.sparkrdma.shuffle.wire.SetupMessages;
import org.sparkrdma.shuffle.wire.SetupMessages.Refusal;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.cm.Connection;

/**
 * The server's end of a connection: answers LOCATEs and RELEASEs. It has a receive for each of two
 * LOCATEs, and one more for a RELEASE or the CONFIRM, which two LOCATEs may follow at once. Only it
 * grants remote access, after the proof of the reader. Confined to the agent.
 *
 * <p>A request that finds no buffer for its answer or no room in the send queue waits, and so does
 * a LOCATE that waits for a disk; its receive is not posted meanwhile. That bounds what a peer can
 * have open.
 */
final class ServeConnection extends RdmaConnection implements OpenLocate.Replies {
  private static final int RECEIVES = 3;

  /** Two answers, and those whose completion is polled after the next requests were received. */
  static final int SEND_DEPTH = 8;

  /**
   * A reader that neither asks nor releases for so long may be stopped; READs are not seen here.
   */
  private static final long FROZEN_NS = Duration.ofSeconds(5).toNanos();

  /** Its device takes answers also while its JVM pauses: after so long it may have died. */
  private static final long STUCK_NS = Duration.ofMillis(100).toNanos();

  private static final Set<AccessFlag> REMOTE_ACCESS = Set.of(AccessFlag.REMOTE_READ);

  private final ServePeers peers;
  private final BlockServer server;
  private final long number;
  private final Handshake handshake;

  /** Buffers of answers: being written, or sent and not completed. */
  private final List<RegisteredChunk> answers = new ArrayList<>(RECEIVES);

  /** Number of them that are in nobody's way, because the peer takes none; one for each receive. */
  private int stuckAnswers;

  /** Receives whose messages wait, in order. */
  private final ArrayDeque<Integer> received = new ArrayDeque<>(RECEIVES);

  /** By their receives: the LOCATEs that are not answered; null for other messages. */
  private final OpenLocate[] locates = new OpenLocate[RECEIVES];

  /** By the same: buffers of their answers. */
  private final RegisteredChunk[] answersOf = new RegisteredChunk[RECEIVES];

  /**
   * Buffer of the REPLY or the REFUSAL until it is sent, else null. It is none of the buffers of
   * answers: strangers that receive nothing would use these up.
   */
  private RegisteredChunk setup;

  private int leases;
  private int openLocates;

  /**
   * @param number unique in this transport
   */
  ServeConnection(
      AgentResources shared,
      ServePeers peers,
      BlockServer server,
      Connection connection,
      long number,
      long nowNs) {
    super(shared, connection, State.CREATING, nowNs);
    this.peers = peers;
    this.server = server;
    this.number = number;
    this.handshake = Handshake.ofResponder(shared.self());
  }

  /** Number of this connection at the server, which owns its leases. */
  long number() {
    return number;
  }

  boolean isProven() {
    return handshake.isProven();
  }

  /** Begins to accept the connection. */
  void create() {
    create(SEND_DEPTH, RECEIVES, 0, shared.fitness().limitsAccess() ? Set.of() : REMOTE_ACCESS);
  }

  @Override
  protected void onQueuePair() throws VerbsException {
    move(State.PROVING);
    connection.accept(parameters(shared.settings().connectTimeout()));
  }

  @Override
  protected void onNoRoom(String detail) {
    peers.reject(this);
  }

  /** Rejects the connection: the peer tries again soon. */
  void reject() {
    connection.reject(shared.fitness().full());
    markBroken(FallbackReason.PEER_BUSY, "no memory for messages");
  }

  @Override
  protected void onMessage(int buffer, ByteBuffer message, long nowNs) throws VerbsException {
    int type = Messages.type(message);
    if (type == Messages.REQUEST || (type != Messages.CONFIRM && !handshake.isProven())) {
      onRequest(buffer, message, nowNs);
    } else if (type == Messages.CONFIRM) {
      onConfirm(buffer, message, nowNs);
    } else if (type == Messages.LOCATE || type == Messages.RELEASE) {
      if (type == Messages.RELEASE) {
        Release.check(message);
      } else {
        leases = Math.max(0, leases - Locate.releasedLeases(message));
        locates[buffer] =
            new OpenLocate(this, number, handshake.peerIncarnation(), buffer, message, nowNs);
      }
      received.add(buffer);
      takeReceived(nowNs);
    } else {
      throw new MalformedMessageException("unexpected message: type=" + type);
    }
  }

  /** The first message: it may be anything, of anybody. */
  private void onRequest(int buffer, ByteBuffer message, long nowNs) {
    ConnectionBinding binding =
        ConnectionBinding.of(
            shared.fitness().namesQueuePair() ? connection.requestQueuePairNumber() : 0,
            connection.remoteAddress(),
            connection.localAddress());
    Refusal refusal = handshake.takeRequest(message, binding);
    postReceive(buffer);
    RegisteredChunk[] taken = shared.messageBuffers().tryTake(1);
    if (taken == null) {
      markBroken(FallbackReason.POOL_EMPTY, "no memory for messages");
      return;
    }
    setup = taken[0];
    ByteBuffer out = setup.slice(0, setup.lengthBytes());
    if (refusal == null) {
      send(setup, handshake.writeReply(out), nowNs);
    } else {
      peers.onRefusedRequest(connection.remoteAddress(), refusal);
      send(setup, SetupMessages.writeRefusal(out, refusal), nowNs);
    }
  }

  private void onConfirm(int buffer, ByteBuffer message, long nowNs) throws VerbsException {
    handshake.takeConfirm(message);
    shared.counters().increment(Counter.CONNECTIONS_ESTABLISHED);
    postReceive(buffer);
    if (hasEnded()) {
      return;
    }
    if (shared.fitness().limitsAccess()) {
      queuePair.setRemoteAccess(REMOTE_ACCESS);
    }
    move(State.ESTABLISHED);
    lastUsedNs = nowNs;
  }

  /** Handles requests that waited, while there are buffers and room for their answers. */
  void takeReceived(long nowNs) {
    while (!received.isEmpty() && isUsable() && hasSendRoom()) {
      RegisteredChunk answer = takeAnswerBuffer();
      if (answer == null) {
        shared.work().addShortOfBuffers(this);
        return;
      }
      int receive = received.remove();
      OpenLocate locate = locates[receive];
      if (locate == null) {
        onRelease(receive, answer, nowNs);
      } else {
        openLocates++;
        answersOf[receive] = answer;
        locate.setAnswer(answer.slice(0, answer.lengthBytes()));
        server.locate(locate);
      }
    }
  }

  private void onRelease(int buffer, RegisteredChunk answer, long nowNs) {
    long[] released = Release.leases(messages[buffer]);
    leases = Math.max(0, leases - released.length);
    for (long lease : released) {
      if (!server.release(number, lease)) {
        // As of a LOCATE with such a lease. The server has counted it.
        markBroken(FallbackReason.PROTOCOL_ERROR, "release of another peer's lease");
        return;
      }
    }
    postReceive(buffer);
    send(answer, Release.writeReleased(answer.slice(0, answer.lengthBytes())), nowNs);
  }

  private RegisteredChunk takeAnswerBuffer() {
    RegisteredChunk answer = shared.messageBuffers().tryTakeForAnswer();
    if (answer != null) {
      answers.add(answer);
    }
    return answer;
  }

  private boolean hasSendRoom() {
    sends.lock();
    try {
      return sends.room() > openLocates && sends.canGather();
    } finally {
      sends.unlock();
    }
  }

  private void send(RegisteredChunk answer, int lengthBytes, long nowNs) {
    if (hasEnded()) {
      return;
    }
    sends.lock();
    try {
      sends.send(answer, lengthBytes, answer, nowNs);
    } finally {
      sends.unlock();
    }
  }

  @Override
  protected void onRetired(Object use, long nowNs) {
    if (use == setup) {
      releaseSetup();
    } else {
      releaseAnswer((RegisteredChunk) use);
    }
    takeReceived(nowNs);
  }

  private void releaseAnswer(RegisteredChunk answer) {
    markStuck(0);
    answers.remove(answer);
    shared.messageBuffers().releaseAnswer(answer);
    shared.work().onAnswerBufferFree();
  }

  private void markStuck(int count) {
    shared.messageBuffers().addStuck(count - stuckAnswers);
    stuckAnswers = count;
  }

  private void releaseSetup() {
    if (setup != null) {
      setup.release();
      setup = null;
    }
  }

  @Override
  public void suspended(OpenLocate locate) {
    releaseAnswer(answersOf[locate.receive()]);
  }

  @Override
  public void resumed(OpenLocate locate) {
    if (hasEnded()) {
      return;
    }
    openLocates--;
    received.addFirst(locate.receive());
    takeReceived(shared.work().nowNs());
  }

  @Override
  public void answered(OpenLocate locate, int lengthBytes) {
    if (hasEnded()) {
      return;
    }
    openLocates--;
    leases += Located.hasLease(locate.answer()) ? 1 : 0;
    lastUsedNs = shared.work().nowNs();
    locates[locate.receive()] = null;
    postReceive(locate.receive());
    send(answersOf[locate.receive()], lengthBytes, shared.work().nowNs());
  }

  @Override
  public void malformed(String reason) {
    // The server has counted it.
    markBroken(FallbackReason.PROTOCOL_ERROR, reason);
  }

  @Override
  boolean isBusy() {
    return !isUsable() || openLocates > 0 || !received.isEmpty();
  }

  /** Whether its end costs its reader nothing but another connection. */
  boolean isUnused() {
    return isUsable() && leases == 0 && !isBusy();
  }

  /**
   * A connection of which a lease is open stays, because READs need nothing of this process, until
   * the lease has expired.
   */
  @Override
  void onTick(long nowNs) {
    if (!isUsable()) {
      if (!isHeldUpHere() && nowNs - beganNs > shared.settings().connectTimeout().toNanos()) {
        markBroken(FallbackReason.CONNECT_FAILED, "not confirmed in time");
      }
      return;
    }
    boolean stalled;
    boolean stuck;
    sends.lock();
    try {
      stuck = sends.isStalled(nowNs, STUCK_NS);
      stalled = sends.isStalled(nowNs, shared.settings().requestTimeout().toNanos());
      sends.post();
    } finally {
      sends.unlock();
    }
    markStuck(stuck ? Math.min(answers.size(), RECEIVES) : 0);
    long idleNs = 2 * shared.settings().idleTimeout().toNanos();
    if (server.hasExpiredLease(number)) {
      markBroken(FallbackReason.TIMEOUT, "lease expired");
    } else if (nowNs - lastUsedNs > FROZEN_NS
        && server.holdsWhatOthersLack(number, handshake.peerIncarnation(), nowNs)) {
      // Only the end of its queue pair frees memory. It connects again when it goes on.
      markBroken(null, "holds memory for which others wait, and says nothing");
    } else if (stalled) {
      markBroken(FallbackReason.LOST_PEER, "peer receives no messages");
    } else if (nowNs - lastUsedNs > idleNs && isUnused()) {
      markBroken(null, "idle");
    }
  }

  @Override
  protected void onBroken(FallbackReason reason, String detail) {
    received.clear();
    peers.onBroken(this, detail);
  }

  @Override
  protected void onDestroyed() {
    server.onConnectionGone(number);
    releaseSetup();
    markStuck(0);
    answers.forEach(shared.messageBuffers()::releaseAnswer);
    answers.clear();
    shared.work().onAnswerBufferFree();
    peers.onDestroyed(this);
  }
}
