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
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.wire.FrameHandler;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Hello;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * The device thread's end of a connection: its socket, its handshake, its state.
 *
 * <pre>
 *  active    CONNECTING ─REQUEST►─ REQUESTING ─►REPLY, READY►─ ESTABLISHED
 *  passive   GREETING ─►REQUEST─ REQUESTED ─REPLY►─ ACCEPTED ─►READY─ ESTABLISHED
 *  then      LINGERING: the last frames are sent and what comes in is dropped; CLOSED
 * </pre>
 */
final class Endpoint implements FrameHandler {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long LINGER_NS = Duration.ofSeconds(1).toNanos();
  private static final int MAX_REASON_BYTES = 400;

  private enum State {
    CONNECTING,
    REQUESTING,
    GREETING,
    REQUESTED,
    ACCEPTED,
    ESTABLISHED,
    LINGERING,
    CLOSED
  }

  private final SoftDevice device;
  private final SoftListener listener;
  private final ByteBuffer body =
      ByteBuffer.allocate(Hello.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private State state;
  private Link link;
  private SoftConnection connection;
  private SoftQueuePair queuePair;
  private ConnectionParameters parameters;
  private Peer peer;
  private int peerNumber;
  private DeviceThread.Timer timer;

  /** Of a connection that this side asks for. */
  Endpoint(SoftDevice device, SoftConnection connection) {
    this.device = device;
    this.connection = connection;
    listener = null;
    state = State.CONNECTING;
  }

  /** Of a connection that a peer asks for. */
  Endpoint(SoftDevice device, SoftListener listener) {
    this.device = device;
    this.listener = listener;
    state = State.GREETING;
  }

  Peer peer() {
    return peer;
  }

  boolean isHalfOpen() {
    return state == State.GREETING;
  }

  // What the application asks for, brought here by commands.

  void connect(Link newLink, SoftQueuePair pair, ConnectionParameters wanted) {
    link = newLink;
    parameters = wanted;
    adopt(pair);
    device.endpoints().add(this);
    limit(
        wanted.timeout().toNanos(),
        () -> fail(ConnectionEvent.Type.UNREACHABLE, "no answer: timeout=" + wanted.timeout()));
  }

  /** Begins to wait for the greeting. */
  void greet(Link newLink) {
    link = newLink;
    device.endpoints().add(this);
    limit(device.settings().greetingTimeoutNs(), this::close);
  }

  void accept(SoftQueuePair pair, ConnectionParameters answer) {
    adopt(pair);
    if (state != State.REQUESTED) {
      pair.fail();
      connection.onFailed(ConnectionEvent.Type.CONNECT_ERROR, "the peer has gone");
      return;
    }
    parameters = answer;
    state = State.ACCEPTED;
    pair.publish();
    sendHello(FrameHeader.REPLY);
    limit(
        device.settings().greetingTimeoutNs(),
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
      sayDisconnect();
    } else if (state == State.REQUESTED) {
      refuse("the request was dropped");
    } else if (state != State.LINGERING) {
      closeNow();
    }
  }

  /** Ends an established connection, with an event. */
  void disconnect(String reason) {
    if (state == State.ESTABLISHED) {
      sayDisconnect();
      queuePair.fail();
      connection.onDisconnected(reason);
    } else if (state == State.ACCEPTED) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, reason);
    }
  }

  private void sayDisconnect() {
    if (!queuePair.sendSide().finish() || !link.hasRoomFor(FrameHeader.BYTES)) {
      closeNow();
      return;
    }
    link.putHeader(FrameHeader.DISCONNECT, 0, 0, 0, 0, 0);
    linger();
  }

  private void onQueuePairFailed() {
    if (state == State.ESTABLISHED) {
      sayDisconnect();
      connection.onDisconnected("the queue pair is in error");
    } else if (state == State.ACCEPTED || state == State.REQUESTING) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, "the queue pair was closed");
    }
  }

  // The handshake.

  @Override
  public void onConnected() throws IOException {
    state = State.REQUESTING;
    connection.setLocalAddress(link.localAddress());
    sendHello(FrameHeader.REQUEST);
  }

  private void sendHello(byte type) {
    try {
      byte[] nonce = new byte[Hello.NONCE_BYTES];
      RANDOM.nextBytes(nonce);
      byte[] proof = Hello.proof(device.table().secret(), nonce, connectingPort(), listeningPort());
      var hello =
          new Hello(
              device.host(),
              device.self(),
              queuePair.number(),
              nonce,
              proof,
              device.directory().name(),
              parameters.privateData());
      body.clear();
      hello.encode(body);
      body.flip();
      link.putHeader(type, 0, body.remaining(), 0, 0, 0);
      link.out().put(body);
      link.flush();
    } catch (IOException e) {
      fail(ConnectionEvent.Type.CONNECT_ERROR, e.getMessage());
    }
  }

  private int connectingPort() throws IOException {
    return (listener == null ? link.localAddress() : link.remoteAddress()).getPort();
  }

  private int listeningPort() throws IOException {
    return (listener == null ? link.remoteAddress() : link.localAddress()).getPort();
  }

  @Override
  public void onConnectRefused(String reason) {
    fail(ConnectionEvent.Type.REJECTED, reason);
  }

  @Override
  public void onFrame(FrameHeader header) throws IOException {
    if (header.type >= FrameHeader.SEND) {
      require(state == State.ESTABLISHED, header);
      require(header.type == FrameHeader.SEND || header.length == 0, header);
      require(header.type != FrameHeader.SEND || header.length == header.extent, header);
      switch (header.type) {
        case FrameHeader.SEND, FrameHeader.WRITTEN -> queuePair.receiveSide().onMessage(header);
        case FrameHeader.ACKNOWLEDGE -> queuePair.sendSide().onAcknowledged(header.sequence);
        case FrameHeader.NOT_READY -> queuePair.sendSide().onNotReady(header.sequence);
        case FrameHeader.FAILED ->
            queuePair.sendSide().onFailed(header.sequence, header.extent == 1);
        default -> throw unexpected(header);
      }
    } else {
      require(header.length <= Hello.MAX_BYTES, header);
      body.clear();
    }
  }

  @Override
  public void onPayload(FrameHeader header, ByteBuffer piece) {
    if (header.type == FrameHeader.SEND) {
      queuePair.receiveSide().onPayload(piece);
    } else {
      body.put(piece);
    }
  }

  @Override
  public void onFrameEnd(FrameHeader header) throws IOException {
    switch (header.type) {
      case FrameHeader.SEND, FrameHeader.WRITTEN -> queuePair.receiveSide().onMessageEnd(header);
      case FrameHeader.REQUEST -> onRequest(header);
      case FrameHeader.REPLY -> onReply(header);
      case FrameHeader.REJECT -> onReject(header);
      case FrameHeader.REFUSED -> onRefused(header);
      case FrameHeader.READY -> onReady(header);
      case FrameHeader.DISCONNECT -> onDisconnect();
      default -> {}
    }
  }

  private void onRequest(FrameHeader header) throws IOException {
    require(state == State.GREETING, header);
    cancelTimer();
    try {
      byte[] privateData = meet();
      connection = listener.onRequest(this, link.localAddress(), link.remoteAddress());
      state = State.REQUESTED;
      connection.offerRequest(listener, privateData);
    } catch (IOException e) {
      refuse(e.getMessage());
    }
  }

  private void onReply(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    byte[] privateData;
    try {
      privateData = meet();
    } catch (IOException e) {
      fail(ConnectionEvent.Type.REJECTED, e.getMessage());
      return;
    }
    cancelTimer();
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
    cancelTimer();
    establish(new byte[0]);
  }

  private void establish(byte[] privateData) {
    state = State.ESTABLISHED;
    queuePair
        .sendSide()
        .onEstablished(link, peer, peerNumber, parameters.receiverNotReadyRetryCount());
    link.flush();
    device.thread().activate(queuePair);
    connection.onEstablished(privateData);
  }

  /** Checks who the other end is and makes it a peer. */
  private byte[] meet() throws IOException {
    Hello hello = Hello.decode(body.flip());
    String difference = device.host().differenceFrom(hello.host());
    if (!difference.isEmpty()) {
      throw new IOException(difference);
    }
    peer = device.peers().acquire(hello, connectingPort(), listeningPort());
    device.watchPeers();
    peerNumber = hello.queuePairNumber();
    return hello.privateData();
  }

  private void onReject(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    byte[] privateData = new byte[body.flip().remaining()];
    body.get(privateData);
    closeNow();
    queuePair.fail();
    connection.onRejected(privateData, "the peer rejected the request");
  }

  private void onRefused(FrameHeader header) throws IOException {
    require(state == State.REQUESTING, header);
    byte[] text = new byte[body.flip().remaining()];
    body.get(text);
    fail(ConnectionEvent.Type.REJECTED, "refused: " + new String(text, StandardCharsets.UTF_8));
  }

  private void onDisconnect() {
    if (state == State.ESTABLISHED) {
      sayDisconnect();
      queuePair.fail();
      connection.onDisconnected("the peer disconnected");
    } else {
      onEnded("the peer disconnected");
    }
  }

  private static void require(boolean expected, FrameHeader header) throws ProtocolException {
    if (!expected) {
      throw unexpected(header);
    }
  }

  private static ProtocolException unexpected(FrameHeader header) {
    return new ProtocolException(
        "unexpected frame: type=" + header.type + " lengthBytes=" + header.length);
  }

  // Ends.

  @Override
  public void onWritable() {
    if (state == State.LINGERING && link.isFlushed()) {
      link.shutdownOutput();
    } else if (queuePair != null) {
      device.thread().activate(queuePair);
    }
  }

  @Override
  public void onEnded(String reason) {
    State before = state;
    closeNow();
    switch (before) {
      case ESTABLISHED -> {
        queuePair.fail();
        connection.onDisconnected(reason);
      }
      case CONNECTING, REQUESTING, ACCEPTED -> {
        queuePair.fail();
        connection.onFailed(ConnectionEvent.Type.CONNECT_ERROR, reason);
      }
      default -> {}
    }
  }

  private void fail(ConnectionEvent.Type type, String reason) {
    closeNow();
    queuePair.fail();
    connection.onFailed(type, reason);
  }

  private void refuse(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MAX_REASON_BYTES);
    link.putHeader(FrameHeader.REFUSED, 0, length, 0, 0, 0);
    link.out().put(text, 0, length);
    linger();
  }

  /** Sends what is left, then waits a little for the peer to have seen it. */
  private void linger() {
    state = State.LINGERING;
    releasePeer();
    link.discard();
    link.flush();
    if (link.isClosed()) {
      closeNow();
      return;
    }
    if (link.isFlushed()) {
      link.shutdownOutput();
    }
    limit(LINGER_NS, this::closeNow);
  }

  /** Ends it at once, for instance with the device. */
  void closeNow() {
    cancelTimer();
    state = State.CLOSED;
    if (link != null) {
      link.close();
    }
    releasePeer();
    device.endpoints().remove(this);
  }

  private void releasePeer() {
    if (peer != null) {
      device.peers().release(peer);
      peer = null;
    }
  }

  private void limit(long delayNs, Runnable command) {
    cancelTimer();
    timer =
        device
            .thread()
            .schedule(
                System.nanoTime() + delayNs,
                () -> {
                  timer = null;
                  command.run();
                });
  }

  private void cancelTimer() {
    if (timer != null) {
      device.thread().cancel(timer);
      timer = null;
    }
  }
}
