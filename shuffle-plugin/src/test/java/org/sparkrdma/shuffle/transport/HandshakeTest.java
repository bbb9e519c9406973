// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.ListenerAddress;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.Messages;
import org.sparkrdma.shuffle.wire.Messages.Refusal;

/** The proof of both ends without a device. */
class HandshakeTest {
  private static final byte[] SECRET = {1, 2, 3};
  private static final Endpoint READER = endpoint(1);
  private static final Endpoint SERVER = endpoint(2);
  private static final ConnectionBinding BINDING = binding(17);

  private final ByteBuffer request = ByteBuffer.allocate(256);
  private final ByteBuffer answer = ByteBuffer.allocate(256);
  private final ByteBuffer confirm = ByteBuffer.allocate(256);
  private Handshake initiator;
  private Handshake responder;

  private static Endpoint endpoint(long incarnation) {
    byte[] token = new byte[Endpoint.TOKEN_BYTES];
    new Random(incarnation).nextBytes(token);
    NetworkAddress address = NetworkAddress.ofHost(InetAddress.getLoopbackAddress());
    List<ListenerAddress> listeners = List.of(new ListenerAddress(address, 1));
    return new Endpoint("e", listeners, "soft", Messages.PROTOCOL, incarnation, token);
  }

  private static ConnectionBinding binding(int queuePair) {
    InetAddress address = InetAddress.getLoopbackAddress();
    return new ConnectionBinding(queuePair, address, address);
  }

  @BeforeEach
  void open() {
    initiator = Handshake.ofInitiator(SERVER, SECRET, READER);
    responder = Handshake.ofResponder(SERVER, SECRET);
  }

  private static ByteBuffer sent(ByteBuffer message, int lengthBytes) {
    return message.slice(0, lengthBytes);
  }

  private ByteBuffer request() {
    return sent(request, initiator.writeRequest(request, BINDING));
  }

  private ByteBuffer answer() {
    return sent(answer, responder.writeAnswer(answer));
  }

  private ByteBuffer confirm() {
    return sent(confirm, initiator.writeConfirm(confirm));
  }

  @Test
  void shouldProveBothEnds() {
    assertThat(responder.takeRequest(request(), BINDING)).isNull();
    assertThat(responder.isProven()).isFalse();
    assertThat(initiator.takeAnswer(answer())).isTrue();
    responder.takeConfirm(confirm());
    assertThat(responder.isProven()).isTrue();
    assertThat(initiator.isProven()).isTrue();
  }

  @Test
  void shouldRefuseAnotherSecretAnotherTokenAndAnotherConnection() {
    Handshake otherSecret = Handshake.ofInitiator(SERVER, new byte[] {9}, READER);
    int length = otherSecret.writeRequest(request, BINDING);
    assertThat(responder.takeRequest(sent(request, length), BINDING)).isEqualTo(Refusal.PROOF);
    open();
    assertThat(responder.takeRequest(request(), binding(18))).isEqualTo(Refusal.PROOF);
  }

  @Test
  void shouldRefuseAStaleEndpointAnotherVersionAndOtherBytes() {
    Handshake stale = Handshake.ofInitiator(endpoint(3), SECRET, READER);
    int length = stale.writeRequest(request, BINDING);
    assertThat(responder.takeRequest(sent(request, length), BINDING))
        .isEqualTo(Refusal.INCARNATION);
    open();
    request().put(1, (byte) 3);
    assertThat(responder.takeRequest(sent(request, Messages.REQUEST_BYTES), BINDING))
        .isEqualTo(Refusal.VERSION);
    open();
    assertThat(responder.takeRequest(ByteBuffer.allocate(3), BINDING)).isEqualTo(Refusal.MALFORMED);
  }

  @Test
  void shouldNotProveEitherEndByOneFlippedBit() {
    for (int bit = 0; bit < 8 * Messages.REQUEST_BYTES; bit++) {
      open();
      ByteBuffer flipped = request();
      flipped.put(bit / 8, (byte) (flipped.get(bit / 8) ^ 1 << bit % 8));
      assertThat(responder.takeRequest(flipped, BINDING)).as("request bit %s", bit).isNotNull();
    }
    for (int bit = 0; bit < 8 * Messages.ANSWER_BYTES; bit++) {
      open();
      responder.takeRequest(request(), BINDING);
      ByteBuffer flipped = answer();
      flipped.put(bit / 8, (byte) (flipped.get(bit / 8) ^ 1 << bit % 8));
      assertThat(initiator.takeAnswer(flipped)).as("answer bit %s", bit).isFalse();
    }
  }

  @Test
  void shouldNotConfirmAReplayedRequest() {
    ByteBuffer recorded = request();
    assertThat(responder.takeRequest(recorded, BINDING)).isNull();
    initiator.takeAnswer(answer());
    ByteBuffer recordedConfirm = confirm();
    Handshake later = Handshake.ofResponder(SERVER, SECRET);
    assertThat(later.takeRequest(recorded, BINDING)).isNull();
    assertThatThrownBy(() -> later.takeConfirm(recordedConfirm))
        .isInstanceOf(MalformedMessageException.class);
    assertThat(later.isProven()).isFalse();
  }

  @Test
  void shouldNotAcceptItsOwnMessagesReflected() {
    ByteBuffer own = request();
    Handshake readerAsServer = Handshake.ofResponder(READER, SECRET);
    assertThat(readerAsServer.takeRequest(own, BINDING)).isEqualTo(Refusal.INCARNATION);
    assertThatThrownBy(() -> initiator.takeAnswer(own))
        .isInstanceOf(MalformedMessageException.class);
    responder.takeRequest(request.slice(0, Messages.REQUEST_BYTES), BINDING);
    ByteBuffer reflected = answer();
    assertThatThrownBy(() -> responder.takeConfirm(reflected))
        .isInstanceOf(MalformedMessageException.class);
  }

  @Test
  void shouldTakeEachMessageOnceAndInOrder() {
    ByteBuffer first = request();
    responder.takeRequest(first, BINDING);
    assertThatThrownBy(() -> responder.takeRequest(first, BINDING))
        .isInstanceOf(MalformedMessageException.class);
    ByteBuffer proven = answer();
    assertThat(initiator.takeAnswer(proven)).isTrue();
    assertThatThrownBy(() -> initiator.takeAnswer(proven))
        .isInstanceOf(MalformedMessageException.class);
    ByteBuffer last = confirm();
    responder.takeConfirm(last);
    assertThatThrownBy(() -> responder.takeConfirm(last))
        .isInstanceOf(MalformedMessageException.class);
    Handshake early = Handshake.ofResponder(SERVER, SECRET);
    assertThatThrownBy(() -> early.takeConfirm(last)).isInstanceOf(MalformedMessageException.class);
  }
}
