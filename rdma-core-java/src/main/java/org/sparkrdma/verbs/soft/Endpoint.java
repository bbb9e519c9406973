// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.wire.FrameHandler;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * The end of a connection on the device thread: its socket and its state. {@link Handshake} makes
 * and checks the first messages, {@link EstablishedFrames} takes the rest.
 *
 * <pre>
 *  initiator CONNECTING ─REQUEST►─ REQUESTING ─►REPLY, READY►─ ESTABLISHED
 *  acceptor  AWAITING_HELLO ─►REQUEST─ REQUESTED ─REPLY►─ ACCEPTED ─►READY─ ESTABLISHED
 *  then      LINGERING: sends the last frames and drops what is received; CLOSED
 * </pre>
 */
final class Endpoint implements FrameHandler {
  private static final long LINGER_NS = Duration.ofSeconds(1).toNanos();

  private enum State {
    CONNECTING,
    REQUESTING,
    AWAITING_HELLO,
    REQUESTED,
    ACCEPTED,
    ESTABLISHED,
    LINGERING,
    CLOSED
  }

  private final SoftContext context;
  private final SoftListener listener;
  private final Handshake handshake;
  private final TimeLimit timeLimit;
  private State state;
  private Link link;
  private SoftConnection connection;
  private SoftQueuePair queuePair;
  private ConnectionParameters parameters;

  /** For a connection that this end asks for. */
  Endpoint(SoftContext context, SoftConnection connection) {
    this.context = context;
    this.connection = connection;
    listener = null;
    handshake = new Handshake(context, true);
    timeLimit = new TimeLimit(context.thread());
    state = State.CONNECTING;
  }

  /** For a connection that a peer asks for. */
  Endpoint(SoftContext context, SoftListener listener) {
    this.context = context;
    this.listener = listener;
    handshake = new Handshake(context, false);
    timeLimit = new TimeLimit(context.thread());
    state = State.AWAITING_HELLO;
  }

  Peer peer() {
    return handshake.peer();
  }

  boolean isHalfOpen() {
    return state == State.AWAITING_HELLO;
  }

  /** The queue pair number in the peer's request; set before the request is offered. */
  int requestQueuePairNumber() {
    return listener == null ? 0 : handshake.peerNumber();
  }

  // Commands of the owner.

  void connect(Link newLink, SoftQueuePair pair, ConnectionParameters wanted) {
    link = newLink;
    parameters = wanted;
    adopt(pair);
    context.endpoints().add(this);
    timeLimit.set(
        wanted.timeout().toNanos(),
        () ->
            fail(
                ConnectionEvent.Type.UNREACHABLE,
                "no answer within the connect time-out: timeout=" + wanted.timeout()));
  }

  /** Begins to wait for the peer's first message. */
  void awaitHello(Link newLink) {
    link = newLink;
    context.endpoints().add(this);
    timeLimit.set(context.settings().handshakeTimeoutNs(), this::close);
  }

  void accept(SoftQueuePair pair, ConnectionParameters answer) {
    adopt(pair);
    if (state != State.REQUESTED) {
      pair.fail();
      connection.onEnded(ConnectionEvent.Type.CONNECT_ERROR, "the peer has ended the connection");
      return;
    }
    parameters = answer;
    state = State.ACCEPTED;
    pair.publish();
    sendHello(FrameHeader.REPLY);
    timeLimit.set(
        context.settings().handshakeTimeoutNs(),
        () -> fail(ConnectionEvent.Type.CONNECT_ERROR, "the peer did not confirm"));
  }

  private void adopt(SoftQueuePair pair) {
    queuePair = pair;
    pair.setFailureListener(this::onQueuePairFailed);
  }

  void reject(byte[] privateData) {
    if (state == State.REQUESTED) {
      link.putHeader(FrameHeader.REJECT, 0, privateData.length, 0, 0, 0);
      link.out().put(privateData);
      linger();
    }
  }

  /** Ends the connection, whatever its state, without an event. */
  void close() {
    if (state == State.ESTABLISHED || state == State.ACCEPTED || state == State.REQUESTING) {
      sendDisconnect();
    } else if (state == State.REQUESTED) {
      refuse("the request was dropped");
    } else if (state != State.LINGERING) {
      closeNow();
    }
  }

  /** Ends an established connection, with an event. */
  void disconnect(String reason) {
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

  @Override
  public void onConnected() throws IOException {
    state = State.REQUESTING;
    connection.onBound(link.localAddress());
    sendHello(FrameHeader.REQUEST);
  }

  private void sendHello(byte type) {
    try {
      handshake.sendHello(link, type, queuePair.number(), parameters.privateData());
    } catch (IOException e) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, e.getMessage());
    }
  }

  @Override
  public void onConnectRefused(String reason) {
    fail(ConnectionEvent.Type.REJECTED, reason);
  }

  @Override
  public void onFrame(FrameHeader header) throws IOException {
    if (EstablishedFrames.includes(header)) {
      require(state == State.ESTABLISHED, header);
      EstablishedFrames.onFrame(header, queuePair);
    } else {
      handshake.onFrame(header);
    }
  }

  @Override
  public void onPayload(FrameHeader header, ByteBuffer piece) {
    if (EstablishedFrames.includes(header)) {
      EstablishedFrames.onPayload(piece, queuePair);
    } else {
      handshake.onPayload(piece);
    }
  }

  @Override
  public void onFrameEnd(FrameHeader header) throws IOException {
    switch (header.type) {
      case FrameHeader.REQUEST -> onRequest(header);
      case FrameHeader.REPLY -> onReply(header);
      case FrameHeader.REJECT -> onReject(header);
      case FrameHeader.REFUSED -> onRefused(header);
      case FrameHeader.READY -> onReady(header);
      case FrameHeader.DISCONNECT -> onDisconnect();
      default -> EstablishedFrames.onFrameEnd(header, queuePair);
    }
  }

  private void onRequest(FrameHeader header) throws IOException {
    require(state == State.AWAITING_HELLO, header);
    timeLimit.cancel();
    try {
      byte[] privateData = handshake.acceptHello(link);
      connection = listener.onRequest(this, link.localAddress(), link.remoteAddress());
      state = State.REQUESTED;
      connection.onRequested(listener, privateData);
    } catch (IOException e) {
      refuse(e.getMessage());
    }
  }

  private void onReply(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    byte[] privateData;
    try {
      privateData = handshake.acceptHello(link);
    } catch (IOException e) {
      fail(ConnectionEvent.Type.REJECTED, e.getMessage());
      return;
    }
    timeLimit.cancel();
    if (!queuePair.markReady()) {
      closeNow();
      return;
    }
    queuePair.publish();
    link.putHeader(FrameHeader.READY, 0, 0, 0, 0, 0);
    establish(privateData);
  }

  private void onReady(FrameHeader header) throws IOException {
    require(state == State.ACCEPTED, header);
    timeLimit.cancel();
    establish(new byte[0]);
  }

  private void establish(byte[] privateData) {
    state = State.ESTABLISHED;
    queuePair
        .sendSide()
        .onEstablished(
            link,
            handshake.peer(),
            handshake.peerNumber(),
            parameters.receiverNotReadyRetryCount());
    link.flush();
    context.thread().activate(queuePair);
    connection.onEstablished(privateData);
  }

  private void onReject(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    byte[] privateData = handshake.takeBody();
    closeNow();
    queuePair.fail();
    connection.onRejected(privateData, "the peer rejected the request");
  }

  private void onRefused(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    String reason = new String(handshake.takeBody(), StandardCharsets.UTF_8);
    fail(ConnectionEvent.Type.REJECTED, "refused: " + reason);
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

  private static void require(boolean expected, FrameHeader header) throws ProtocolException {
    if (!expected) {
      throw EstablishedFrames.unexpected(header);
    }
  }

  // The end.

  @Override
  public void onWritable() {
    if (state == State.LINGERING && link.isFlushed()) {
      link.shutdownOutput();
    } else if (queuePair != null) {
      context.thread().activate(queuePair);
    }
  }

  @Override
  public void onEnded(String reason) {
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

  private void fail(ConnectionEvent.Type type, String reason) {
    closeNow();
    queuePair.fail();
    connection.onEnded(type, reason);
  }

  private void refuse(String reason) {
    handshake.sendRefusal(link, reason);
    linger();
  }

  /** Sends what is left, then gives the peer a little time to receive it. */
  private void linger() {
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
  void closeNow() {
    timeLimit.cancel();
    state = State.CLOSED;
    if (link != null) {
      link.close();
    }
    handshake.releasePeer();
    context.endpoints().remove(this);
  }
}
