// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import org.sparkrdma.verbs.soft.shared.SharedState;
import org.sparkrdma.verbs.soft.wire.FrameHeader;
import org.sparkrdma.verbs.soft.wire.Link;
import org.sparkrdma.verbs.soft.wire.LinkHello;
import org.sparkrdma.verbs.soft.wire.ProtocolException;

/**
 * The first messages of a connection: makes this end's {@link LinkHello} and checks the peer's.
 * Confined to the device thread.
 */
final class Handshake {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int MAX_REASON_BYTES = 400;

  private final SoftContext context;
  private final boolean initiator;
  private final ByteBuffer body =
      ByteBuffer.allocate(LinkHello.MAX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private SoftPeer peer;
  private int peerNumber;

  /**
   * @param initiator whether this end asks for the connection
   */
  Handshake(SoftContext context, boolean initiator) {
    this.context = context;
    this.initiator = initiator;
  }

  /** The peer, or null before its LinkHello was checked and after {@link #releasePeer}. */
  SoftPeer peer() {
    return peer;
  }

  /** Number of the peer's queue pair. */
  int peerNumber() {
    return peerNumber;
  }

  /** Puts this end's LinkHello on the link. */
  void sendHello(Link link, byte type, int queuePairNumber, byte[] privateData) throws IOException {
    SharedState shared = context.shared();
    byte[] nonce = new byte[LinkHello.NONCE_BYTES];
    RANDOM.nextBytes(nonce);
    byte[] proof =
        LinkHello.proof(shared.table().secret(), nonce, initiatorPort(link), listenerPort(link));
    var hello =
        new LinkHello(
            shared.host(),
            shared.self(),
            queuePairNumber,
            nonce,
            proof,
            shared.directory().name(),
            privateData);
    body.clear();
    hello.encode(body);
    body.flip();
    link.putHeader(type, 0, body.remaining(), 0, 0, 0);
    link.out().put(body);
    link.flush();
  }

  private int initiatorPort(Link link) throws IOException {
    return port(initiator ? link.localAddress() : link.remoteAddress());
  }

  private int listenerPort(Link link) throws IOException {
    return port(initiator ? link.remoteAddress() : link.localAddress());
  }

  private static int port(InetSocketAddress address) {
    return address.getPort();
  }

  /** A frame of the handshake begins. */
  void onFrame(FrameHeader header) throws ProtocolException {
    if (header.length > LinkHello.MAX_BYTES) {
      throw new ProtocolException("handshake too long: lengthBytes=" + header.length);
    }
    body.clear();
  }

  void onPayload(ByteBuffer piece) {
    body.put(piece);
  }

  /**
   * Checks the LinkHello that was received and makes its sender a peer.
   *
   * @return the private data of its application
   * @throws IOException with the reason when it is refused
   */
  byte[] acceptHello(Link link) throws IOException {
    LinkHello hello = LinkHello.decode(body.flip());
    String difference = context.shared().host().differenceFrom(hello.host());
    if (!difference.isEmpty()) {
      throw new IOException(difference);
    }
    peer = context.endpoints().acquirePeer(hello, initiatorPort(link), listenerPort(link));
    peerNumber = hello.queuePairNumber();
    return hello.privateData();
  }

  /** The bytes that were received. */
  byte[] takeBody() {
    byte[] bytes = new byte[body.flip().remaining()];
    body.get(bytes);
    return bytes;
  }

  /** Puts the reason why the peer is refused on the link. */
  void sendRefusal(Link link, String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    int length = Math.min(text.length, MAX_REASON_BYTES);
    link.putHeader(FrameHeader.REFUSED, 0, length, 0, 0, 0);
    link.out().put(text, 0, length);
  }

  void releasePeer() {
    if (peer != null) {
      context.endpoints().releasePeer(peer);
      peer = null;
    }
  }
}
