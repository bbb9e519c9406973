// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.soft.shared.SharedReceives;

/**
 * The end of a connection: its socket, its state and the first messages, see {@link Frame}. The
 * connection ends with the socket. Guarded by the lock of the device.
 *
 * <pre>
 *  initiator CONNECTING ─REQUEST►─ REQUESTING ─►REPLY, READY►─ ESTABLISHED
 *  acceptor  AWAITING_HELLO ─►REQUEST─ REQUESTED ─REPLY►─ ACCEPTED ─►READY─ ESTABLISHED
 *  then      CLOSED
 * </pre>
 */
final class SoftEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(SoftEndpoint.class);
  private static final int MAX_REASON_BYTES = 400;

  /** Room for each frame of a set-up, and for wake-ups. */
  private static final int BUFFER_BYTES = 1 << 10;

  private static final byte[] NO_BODY = {};
  private static final SecureRandom RANDOM = new SecureRandom();

  enum State {
    CONNECTING,
    REQUESTING,
    AWAITING_HELLO,
    REQUESTED,
    ACCEPTED,
    ESTABLISHED,
    CLOSED
  }

  private final SoftDevice device;

  /** Null at the initiator. */
  private final SoftListener listener;

  private State state;
  private SocketChannel socket;
  private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer wake = ByteBuffer.allocate(1).put(0, Frame.WAKE);
  private SoftConnection connection;

  /** Null before the owner connects or accepts. */
  private SoftQueuePair queuePair;

  private ConnectionParameters parameters;

  /** Null before the peer's first message was checked, and at the end. */
  private RemoteDevice peer;

  private int peerNumber;
  private SharedReceives peerReceives;

  /**
   * @param listener of an acceptor; null at the initiator
   * @param connection of an initiator; null at an acceptor
   */
  SoftEndpoint(SoftDevice device, SoftListener listener, SoftConnection connection) {
    this.device = device;
    this.listener = listener;
    this.connection = connection;
    state = listener == null ? State.CONNECTING : State.AWAITING_HELLO;
  }

  RemoteDevice peer() {
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

  private InetSocketAddress localAddress() throws IOException {
    return (InetSocketAddress) socket.getLocalAddress();
  }

  private InetSocketAddress remoteAddress() throws IOException {
    return (InetSocketAddress) socket.getRemoteAddress();
  }

  /** Takes over a socket, also when it throws. */
  private void register(SocketChannel channel, int operation) throws IOException {
    socket = channel;
    socket.configureBlocking(false);
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    socket.register(device.loop.selector, operation, (Runnable) this::onSelected);
  }

  /** Ends the connection when it is still in this state at the end of the handshake time-out. */
  private void limitState() {
    State limited = state;
    device.loop.schedule(
        System.nanoTime() + device.settings.handshakeTimeoutNs(),
        () -> {
          if (state == limited) {
            onEnded("no answer within the handshake time-out");
          }
        });
  }

  // The initiator.

  /**
   * Connects the socket.
   *
   * @param local null for an address that the kernel chooses
   * @param hangs whether the peer is never reached, by the fault plan
   */
  void connect(
      SoftQueuePair pair,
      InetSocketAddress local,
      InetSocketAddress remote,
      boolean hangs,
      ConnectionParameters wanted) {
    queuePair = pair;
    parameters = wanted;
    pair.attach(this);
    try {
      register(SocketChannel.open(), 0);
      if (local != null) {
        socket.bind(local);
      }
      if (hangs) {
        return;
      }
      if (socket.connect(remote)) {
        onConnected();
      } else {
        socket.keyFor(device.loop.selector).interestOps(SelectionKey.OP_CONNECT);
      }
    } catch (IOException | RuntimeException e) {
      onEnded("could not connect: " + e.getMessage());
    }
  }

  private void onConnected() throws IOException {
    socket.keyFor(device.loop.selector).interestOps(SelectionKey.OP_READ);
    state = State.REQUESTING;
    connection.onBound(localAddress());
    sendHello(Frame.REQUEST);
  }

  private void onReply(ByteBuffer body) {
    byte[] privateData;
    try {
      privateData = acceptHello(body);
    } catch (IOException e) {
      end(ConnectionEvent.Type.REJECTED, NO_BODY, e.getMessage());
      return;
    }
    if (!queuePair.tryMarkReady()) {
      close();
      return;
    }
    queuePair.publish();
    send(Frame.READY, NO_BODY);
    if (state == State.REQUESTING) {
      establish(privateData);
    }
  }

  // The acceptor.

  /** Begins to wait for the peer's first message. */
  void awaitHello(SocketChannel channel) {
    try {
      register(channel, SelectionKey.OP_READ);
      limitState();
    } catch (IOException | RuntimeException e) {
      LOG.debug("A peer has ended before its first message", e);
      onEnded("could not wait for the first message: " + e.getMessage());
    }
  }

  private void onRequest(ByteBuffer body) {
    try {
      byte[] privateData = acceptHello(body);
      connection = listener.onRequest(this, localAddress(), remoteAddress(), privateData);
      moveTo(State.REQUESTED);
    } catch (IOException e) {
      refuse(e.getMessage());
    }
  }

  void accept(SoftQueuePair pair, ConnectionParameters answer) {
    queuePair = pair;
    pair.attach(this);
    if (state != State.REQUESTED) {
      pair.fail();
      connection.post(
          ConnectionEvent.Type.CONNECT_ERROR, NO_BODY, "the peer has ended the connection");
      return;
    }
    parameters = answer;
    state = State.ACCEPTED;
    pair.publish();
    sendHello(Frame.REPLY);
    limitState();
  }

  void reject(byte[] privateData) {
    if (state == State.REQUESTED) {
      send(Frame.REJECT, privateData);
      end();
    }
  }

  private void refuse(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    send(Frame.REFUSED, Arrays.copyOf(text, Math.min(text.length, MAX_REASON_BYTES)));
    end();
  }

  // Both.

  /** The proof of the one that has this secret. */
  private byte[] proof(byte[] secret, byte[] nonce) throws IOException {
    int local = localAddress().getPort();
    int remote = remoteAddress().getPort();
    return listener == null
        ? LinkHello.proof(secret, nonce, local, remote)
        : LinkHello.proof(secret, nonce, remote, local);
  }

  private void sendHello(byte type) {
    byte[] nonce = new byte[LinkHello.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    try {
      var hello =
          new LinkHello(
              device.host,
              queuePair.number(),
              nonce,
              proof(device.table.secret(), nonce),
              device.directory.name(),
              parameters.privateData());
      ByteBuffer body = ByteBuffer.allocate(LinkHello.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      hello.encode(body);
      send(type, Arrays.copyOf(body.array(), body.position()));
    } catch (IOException e) {
      onEnded("connection lost: " + e.getMessage());
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
    if (!device.host.equals(hello.host())) {
      throw new IOException(
          "the soft engine reaches only processes of its own host, container and user: own="
              + (device.host + " peer=" + hello.host()));
    }
    peer = device.peers.acquire(hello.directory());
    if (!MessageDigest.isEqual(hello.proof(), proof(peer.table.secret(), hello.nonce()))) {
      throw new IOException("the proof in the hello is wrong");
    }
    peerNumber = hello.queuePairNumber();
    peerReceives = peer.receives(peerNumber);
    return hello.privateData();
  }

  private void establish(byte[] privateData) {
    state = State.ESTABLISHED;
    queuePair.onEstablished(parameters.receiverNotReadyRetryCount());
    connection.post(ConnectionEvent.Type.ESTABLISHED, privateData, "");
  }

  // Sending and receiving.

  private void send(byte type, byte[] body) {
    ByteBuffer frame = ByteBuffer.allocate(Frame.HEADER_BYTES + body.length);
    frame.order(ByteOrder.LITTLE_ENDIAN).putInt(type).putInt(body.length).put(body).flip();
    try {
      socket.write(frame);
      if (frame.hasRemaining()) {
        // One that reads what it is sent has room for each frame.
        onEnded("the peer does not read");
      }
    } catch (IOException e) {
      onEnded("connection lost: " + e.getMessage());
    }
  }

  /** Wakes the peer. Without room in the socket, bytes that were sent before wake it. */
  void wakePeer() {
    try {
      socket.write(wake.rewind());
    } catch (IOException e) {
      LOG.debug("Could not wake the peer: the selector reports the end of the socket", e);
    }
  }

  /** The socket is ready. */
  private void onSelected() {
    if (state == State.CLOSED) {
      return;
    }
    try {
      if (state == State.CONNECTING) {
        socket.finishConnect();
        onConnected();
      } else {
        receive();
      }
    } catch (java.net.ConnectException e) {
      end(ConnectionEvent.Type.REJECTED, NO_BODY, e.getMessage());
    } catch (ProtocolException e) {
      onEnded("peer broke the protocol: " + e.getMessage());
    } catch (IOException e) {
      onEnded("connection lost: " + e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("Unexpected failure in a connection of the soft device; closing it", e);
      onEnded("connection closed after a failure: " + e);
    }
  }

  private void receive() throws IOException {
    if (socket.read(in) < 0) {
      onEnded("the peer disconnected");
      return;
    }
    in.flip();
    ByteBuffer frame = Frame.next(in);
    while (frame != null && state != State.CLOSED) {
      onFrame(frame.get(0), frame);
      frame = Frame.next(in);
    }
    in.compact();
  }

  private void onFrame(byte type, ByteBuffer body) throws IOException {
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
        end(ConnectionEvent.Type.REJECTED, bytes(body), "the peer rejected the request");
      }
      case Frame.REFUSED -> {
        require(state == State.REQUESTING, type);
        String reason = new String(bytes(body), StandardCharsets.UTF_8);
        end(ConnectionEvent.Type.REJECTED, NO_BODY, "refused: " + reason);
      }
      default -> {
        require(state == State.ACCEPTED && type == Frame.READY && !body.hasRemaining(), type);
        establish(NO_BODY);
      }
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
    if (state == State.REQUESTED) {
      refuse("the request was dropped");
    }
    end();
  }

  /** The socket was closed by the peer or after an error, or the queue pair is broken. */
  void onEnded(String reason) {
    end(
        state == State.ESTABLISHED
            ? ConnectionEvent.Type.DISCONNECTED
            : ConnectionEvent.Type.CONNECT_ERROR,
        NO_BODY,
        reason);
  }

  private void end(ConnectionEvent.Type type, byte[] privateData, String reason) {
    if (state != State.CLOSED) {
      end();
      if (queuePair != null) {
        queuePair.fail();
        connection.post(type, privateData, reason);
      }
    }
  }

  private void end() {
    moveTo(State.CLOSED);
    if (peer != null) {
      device.peers.release(peer);
      peer = null;
    }
    if (socket != null) {
      SoftConnectionManager.closeQuietly(socket);
    }
  }

  private void moveTo(State next) {
    if (state == State.AWAITING_HELLO) {
      listener.onHalfOpenEnded();
    }
    state = next;
  }
}
