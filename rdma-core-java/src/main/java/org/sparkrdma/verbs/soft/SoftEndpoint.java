// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.wire.FrameHandler;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * The end of a connection on the device thread: its socket and its state. {@link Handshake} makes
 * and checks the first messages, {@link InitiatorEndpoint} and {@link AcceptorEndpoint} exchange
 * them, {@link EstablishedFrames} takes the rest.
 *
 * <pre>
 *  initiator CONNECTING ─REQUEST►─ REQUESTING ─►REPLY, READY►─ ESTABLISHED
 *  acceptor  AWAITING_HELLO ─►REQUEST─ REQUESTED ─REPLY►─ ACCEPTED ─►READY─ ESTABLISHED
 *  then      LINGERING: sends the last frames and drops what is received; CLOSED
 * </pre>
 */
abstract class SoftEndpoint implements FrameHandler {
  private static final long LINGER_NS = Duration.ofSeconds(1).toNanos();

  enum State {
    CONNECTING,
    REQUESTING,
    AWAITING_HELLO,
    REQUESTED,
    ACCEPTED,
    ESTABLISHED,
    LINGERING,
    CLOSED
  }

  final SoftContext context;
  final Handshake handshake;
  final TimeLimit timeLimit;
  State state;
  Link link;
  SoftConnection connection;
  SoftQueuePair queuePair;
  ConnectionParameters parameters;

  /**
   * @param initiator whether this end asks for the connection
   * @param first its state before the first message
   */
  SoftEndpoint(SoftContext context, boolean initiator, State first) {
    this.context = context;
    handshake = new Handshake(context, initiator);
    timeLimit = new TimeLimit(context.loop());
    state = first;
  }

  final SoftPeer peer() {
    return handshake.peer();
  }

  final boolean isHalfOpen() {
    return state == State.AWAITING_HELLO;
  }

  // Commands of the owner.

  final void adopt(SoftQueuePair pair) {
    queuePair = pair;
    pair.setFailureListener(this::onQueuePairFailed);
  }

  /** Ends the connection, whatever its state, without an event. */
  final void close() {
    if (state == State.ESTABLISHED || state == State.ACCEPTED || state == State.REQUESTING) {
      sendDisconnect();
    } else if (state == State.REQUESTED) {
      refuse("the request was dropped");
    } else if (state != State.LINGERING) {
      closeNow();
    }
  }

  /** Ends an established connection, with an event. */
  final void disconnect(String reason) {
    if (state == State.ESTABLISHED) {
      sendDisconnect();
      queuePair.fail();
      endConnection(reason);
    } else if (state == State.ACCEPTED) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, reason);
    }
  }

  private void sendDisconnect() {
    if (!queuePair.sendSide().finish() || !link.hasRoomFor(FrameHeader.BYTES)) {
      closeNow();
      return;
    }
    link.putHeader(FrameHeader.DISCONNECT, 0, 0, 0, 0, 0);
    linger();
  }

  private void onQueuePairFailed() {
    if (state == State.ESTABLISHED) {
      sendDisconnect();
      endConnection("the queue pair is in error");
    } else if (state == State.ACCEPTED || state == State.REQUESTING) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, "the queue pair was closed");
    }
  }

  // The handshake.

  final void sendHello(byte type) {
    try {
      handshake.sendHello(link, type, queuePair.number(), parameters.privateData());
    } catch (IOException e) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, e.getMessage());
    }
  }

  @Override
  public final void onFrame(FrameHeader header) throws IOException {
    if (EstablishedFrames.includes(header)) {
      require(state == State.ESTABLISHED, header);
      EstablishedFrames.onFrame(header, queuePair);
    } else {
      handshake.onFrame(header);
    }
  }

  @Override
  public final void onPayload(FrameHeader header, ByteBuffer piece) {
    if (EstablishedFrames.includes(header)) {
      EstablishedFrames.onPayload(piece, queuePair);
    } else {
      handshake.onPayload(piece);
    }
  }

  @Override
  public final void onFrameEnd(FrameHeader header) throws IOException {
    if (EstablishedFrames.includes(header)) {
      EstablishedFrames.onFrameEnd(header, queuePair);
    } else if (header.type == FrameHeader.DISCONNECT) {
      onDisconnect();
    } else {
      onHandshakeEnd(header);
    }
  }

  /** A frame of the handshake is complete. */
  abstract void onHandshakeEnd(FrameHeader header) throws IOException;

  final void establish(byte[] privateData) {
    state = State.ESTABLISHED;
    queuePair
        .sendSide()
        .onEstablished(
            link,
            handshake.peer(),
            handshake.peerNumber(),
            parameters.receiverNotReadyRetryCount());
    link.flush();
    context.loop().activate(queuePair);
    connection.onEstablished(privateData);
  }

  private void onDisconnect() {
    if (state == State.ESTABLISHED) {
      sendDisconnect();
      queuePair.fail();
      endConnection("the peer disconnected");
    } else {
      onEnded("the peer disconnected");
    }
  }

  private void endConnection(String reason) {
    connection.onEnded(ConnectionEvent.Type.DISCONNECTED, reason);
  }

  static void require(boolean expected, FrameHeader header) throws ProtocolException {
    if (!expected) {
      throw EstablishedFrames.unexpected(header);
    }
  }

  // The end.

  @Override
  public final void onWritable() {
    if (state == State.LINGERING && link.isFlushed()) {
      link.shutdownOutput();
    } else if (queuePair != null) {
      context.loop().activate(queuePair);
    }
  }

  @Override
  public final void onEnded(String reason) {
    State before = state;
    closeNow();
    switch (before) {
      case ESTABLISHED -> {
        queuePair.fail();
        endConnection(reason);
      }
      case CONNECTING, REQUESTING, ACCEPTED -> {
        queuePair.fail();
        connection.onEnded(ConnectionEvent.Type.CONNECT_ERROR, reason);
      }
      default -> {}
    }
  }

  final void fail(ConnectionEvent.Type type, String reason) {
    closeNow();
    queuePair.fail();
    connection.onEnded(type, reason);
  }

  final void refuse(String reason) {
    handshake.sendRefusal(link, reason);
    linger();
  }

  /** Sends what is left, then gives the peer a little time to receive it. */
  final void linger() {
    state = State.LINGERING;
    handshake.releasePeer();
    link.discard();
    link.flush();
    if (link.isClosed()) {
      closeNow();
      return;
    }
    if (link.isFlushed()) {
      link.shutdownOutput();
    }
    timeLimit.set(LINGER_NS, this::closeNow);
  }

  /** Closes the socket at once, as when the device is closed. */
  final void closeNow() {
    timeLimit.cancel();
    state = State.CLOSED;
    if (link != null) {
      link.close();
    }
    handshake.releasePeer();
    context.endpoints().remove(this);
  }
}
