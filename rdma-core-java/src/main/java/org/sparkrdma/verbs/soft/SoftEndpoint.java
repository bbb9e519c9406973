// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.shared.SharedReceives;
import org.sparkrdma.verbs.soft.wire.Frame;
import org.sparkrdma.verbs.soft.wire.FrameHandler;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.LinkHello;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * The end of a connection: its socket, its state and the first messages. Guarded by the lock of the
 * device.
 *
 * <pre>
 *  initiator CONNECTING ─REQUEST►─ REQUESTING ─►REPLY, READY►─ ESTABLISHED
 *  acceptor  AWAITING_HELLO ─►REQUEST─ REQUESTED ─REPLY►─ ACCEPTED ─►READY─ ESTABLISHED
 *  then      LINGERING: sends the last frames and drops what is received; CLOSED
 * </pre>
 */
final class SoftEndpoint implements FrameHandler {
  private static final long LINGER_NS = Duration.ofSeconds(1).toNanos();
  private static final int MAX_REASON_BYTES = 400;
  private static final byte[] NO_BODY = {};
  private static final SecureRandom RANDOM = new SecureRandom();

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

  private final SoftContext context;

  /** Null at the initiator. */
  private final SoftListener listener;

  private State state;
  private Link link;
  private SoftConnection connection;
  private SoftQueuePair queuePair;
  private ConnectionParameters parameters;

  /** Limit of the present state. */
  private Timers.Timer timer;

  /** Null before the peer's first message was checked, and after {@link #releasePeer}. */
  private SoftPeer peer;

  private int peerNumber;
  private SharedReceives peerReceives;

  private SoftEndpoint(SoftContext context, SoftListener listener, State first) {
    this.context = context;
    this.listener = listener;
    state = first;
  }

  static SoftEndpoint initiator(SoftContext context, SoftConnection connection) {
    var endpoint = new SoftEndpoint(context, null, State.CONNECTING);
    endpoint.connection = connection;
    return endpoint;
  }

  static SoftEndpoint acceptor(SoftContext context, SoftListener listener) {
    return new SoftEndpoint(context, listener, State.AWAITING_HELLO);
  }

  SoftPeer peer() {
    return peer;
  }

  /** Number of the peer's queue pair. */
  int peerNumber() {
    return peerNumber;
  }

  /** Number of the queue pair in the peer's request; 0 at the initiator. */
  int requestQueuePairNumber() {
    return listener == null ? 0 : peerNumber;
  }

  SharedReceives peerReceives() {
    return peerReceives;
  }

  boolean isHalfOpen() {
    return state == State.AWAITING_HELLO;
  }

  private void setLimit(long delayNs, Runnable onTimeout) {
    cancelLimit();
    timer = context.loop().schedule(System.nanoTime() + delayNs, onTimeout);
  }

  private void cancelLimit() {
    if (timer != null) {
      context.loop().cancel(timer);
      timer = null;
    }
  }

  // The initiator.

  void connect(Link newLink, ConnectionParameters wanted) {
    link = newLink;
    parameters = wanted;
    context.peers().add(this);
  }

  @Override
  public void onConnected() throws IOException {
    state = State.REQUESTING;
    connection.onBound(link.localAddress());
    sendHello(Frame.REQUEST);
  }

  @Override
  public void onConnectRefused(String reason) {
    fail(ConnectionEvent.Type.REJECTED, reason);
  }

  private void onReply(ByteBuffer body) {
    byte[] privateData;
    try {
      privateData = acceptHello(body);
    } catch (IOException e) {
      fail(ConnectionEvent.Type.REJECTED, e.getMessage());
      return;
    }
    cancelLimit();
    if (!queuePair.tryMarkReady()) {
      closeNow();
      return;
    }
    queuePair.publish();
    link.send(Frame.READY, NO_BODY);
    establish(privateData);
  }

  private void onReject(byte[] privateData) {
    closeNow();
    queuePair.fail();
    connection.post(ConnectionEvent.Type.REJECTED, privateData, "the peer rejected the request");
  }

  // The acceptor.

  /** Begins to wait for the peer's first message. */
  void awaitHello(Link newLink) {
    link = newLink;
    context.peers().add(this);
    setLimit(context.settings().handshakeTimeoutNs(), this::close);
  }

  private void onRequest(ByteBuffer body) {
    cancelLimit();
    try {
      byte[] privateData = acceptHello(body);
      connection = listener.onRequest(this, link.localAddress(), link.remoteAddress());
      state = State.REQUESTED;
      connection.onRequested(listener, privateData);
    } catch (IOException e) {
      refuse(e.getMessage());
    }
  }

  void accept(SoftQueuePair pair, ConnectionParameters answer) {
    adopt(pair);
    if (state != State.REQUESTED) {
      pair.fail();
      post(ConnectionEvent.Type.CONNECT_ERROR, "the peer has ended the connection");
      return;
    }
    parameters = answer;
    state = State.ACCEPTED;
    pair.publish();
    sendHello(Frame.REPLY);
    setLimit(
        context.settings().handshakeTimeoutNs(),
        () -> fail(ConnectionEvent.Type.CONNECT_ERROR, "the peer did not confirm"));
  }

  void reject(byte[] privateData) {
    if (state == State.REQUESTED) {
      link.send(Frame.REJECT, privateData);
      linger();
    }
  }

  private void refuse(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    link.send(Frame.REFUSED, Arrays.copyOf(text, Math.min(text.length, MAX_REASON_BYTES)));
    linger();
  }

  // Both.

  /** This queue pair fails with the connection, and ends it when it fails. */
  void adopt(SoftQueuePair pair) {
    queuePair = pair;
    pair.setFailureListener(this::onQueuePairFailed);
  }

  private int initiatorPort() throws IOException {
    return (listener == null ? link.localAddress() : link.remoteAddress()).getPort();
  }

  private int listenerPort() throws IOException {
    return (listener == null ? link.remoteAddress() : link.localAddress()).getPort();
  }

  private void sendHello(byte type) {
    byte[] nonce = new byte[LinkHello.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    try {
      var hello =
          new LinkHello(
              context.host(),
              context.self(),
              queuePair.number(),
              nonce,
              LinkHello.proof(context.table().secret(), nonce, initiatorPort(), listenerPort()),
              context.directory().name(),
              parameters.privateData());
      ByteBuffer body = ByteBuffer.allocate(LinkHello.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      hello.encode(body);
      link.send(type, Arrays.copyOf(body.array(), body.position()));
    } catch (IOException e) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, e.getMessage());
    }
  }

  /**
   * Checks the LinkHello that was received and makes its sender a peer.
   *
   * @return the private data of its application
   * @throws IOException with the reason when it is refused
   */
  private byte[] acceptHello(ByteBuffer body) throws IOException {
    LinkHello hello = LinkHello.decode(body);
    String difference = context.host().differenceFrom(hello.host());
    if (!difference.isEmpty()) {
      throw new IOException(difference);
    }
    peer = context.peers().acquire(hello, initiatorPort(), listenerPort());
    peerNumber = hello.queuePairNumber();
    peerReceives = peer.receives(peerNumber);
    return hello.privateData();
  }

  private void establish(byte[] privateData) {
    state = State.ESTABLISHED;
    queuePair.onEstablished(link, this, parameters.receiverNotReadyRetryCount());
    connection.post(ConnectionEvent.Type.ESTABLISHED, privateData, "");
  }

  @Override
  public void onFrame(byte type, ByteBuffer body) throws IOException {
    switch (type) {
      case Frame.REQUEST -> {
        require(state == State.AWAITING_HELLO, type);
        onRequest(body);
      }
      case Frame.REPLY -> {
        require(state == State.REQUESTING, type);
        onReply(body);
      }
      case Frame.REJECT -> {
        require(state == State.REQUESTING, type);
        onReject(bytes(body));
      }
      case Frame.REFUSED -> {
        require(state == State.REQUESTING, type);
        String reason = new String(bytes(body), StandardCharsets.UTF_8);
        fail(ConnectionEvent.Type.REJECTED, "refused: " + reason);
      }
      case Frame.READY -> {
        require(state == State.ACCEPTED && !body.hasRemaining(), type);
        cancelLimit();
        establish(NO_BODY);
      }
      case Frame.DISCONNECT -> onDisconnect();
      default -> throw new ProtocolException("unexpected frame: type=" + type);
    }
  }

  private static byte[] bytes(ByteBuffer body) {
    byte[] bytes = new byte[body.remaining()];
    body.get(bytes);
    return bytes;
  }

  private static void require(boolean expected, byte type) throws ProtocolException {
    if (!expected) {
      throw new ProtocolException("unexpected frame: type=" + type);
    }
  }

  // The end.

  /** Ends the connection, whatever its state, without an event. */
  void close() {
    switch (state) {
      case ESTABLISHED, ACCEPTED, REQUESTING -> sendDisconnect();
      case REQUESTED -> refuse("the request was dropped");
      case LINGERING -> {
        // The time limit closes it.
      }
      default -> closeNow();
    }
  }

  /** Ends an established or accepted connection. */
  void disconnect() {
    if (state == State.ESTABLISHED || state == State.ACCEPTED) {
      sendDisconnect();
      queuePair.fail();
    }
  }

  private void sendDisconnect() {
    if (link.send(Frame.DISCONNECT, NO_BODY)) {
      linger();
    } else {
      closeNow();
    }
  }

  private void onQueuePairFailed() {
    if (state == State.ESTABLISHED) {
      sendDisconnect();
      post(ConnectionEvent.Type.DISCONNECTED, "the queue pair is in error");
    } else if (state == State.ACCEPTED || state == State.REQUESTING) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, "the queue pair was closed");
    }
  }

  private void onDisconnect() {
    if (state == State.ESTABLISHED) {
      sendDisconnect();
      queuePair.fail();
      post(ConnectionEvent.Type.DISCONNECTED, "the peer disconnected");
    } else {
      onEnded("the peer disconnected");
    }
  }

  @Override
  public void onFlushed() {
    if (state == State.LINGERING) {
      link.shutdownOutput();
    }
  }

  @Override
  public void onEnded(String reason) {
    State before = state;
    closeNow();
    switch (before) {
      case ESTABLISHED -> {
        queuePair.fail();
        post(ConnectionEvent.Type.DISCONNECTED, reason);
      }
      case CONNECTING, REQUESTING, ACCEPTED -> {
        queuePair.fail();
        post(ConnectionEvent.Type.CONNECT_ERROR, reason);
      }
      default -> {
        // Its end is known.
      }
    }
  }

  private void fail(ConnectionEvent.Type type, String reason) {
    closeNow();
    queuePair.fail();
    post(type, reason);
  }

  private void post(ConnectionEvent.Type type, String reason) {
    connection.post(type, NO_BODY, reason);
  }

  /** Sends what is left, then gives the peer a little time to receive it. */
  private void linger() {
    state = State.LINGERING;
    releasePeer();
    link.discard();
    if (link.isClosed()) {
      closeNow();
      return;
    }
    if (link.isFlushed()) {
      link.shutdownOutput();
    }
    setLimit(LINGER_NS, this::closeNow);
  }

  private void releasePeer() {
    if (peer != null) {
      context.peers().release(peer);
      peer = null;
    }
  }

  /** Closes the socket at once, as when the device is closed. */
  void closeNow() {
    cancelLimit();
    state = State.CLOSED;
    if (link != null) {
      link.close();
    }
    releasePeer();
    context.peers().remove(this);
  }
}
