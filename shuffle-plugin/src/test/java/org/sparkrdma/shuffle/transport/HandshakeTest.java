// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.MalformedMessageException;
import org.sparkrdma.shuffle.wire.SetupMessages;

/** The proof of both ends without a device. */
class HandshakeTest {
  private static final byte[] SECRET = {1, 2, 3};
  private static final Endpoint READER = endpoint(1);
  private static final Endpoint SERVER = endpoint(2);
  private static final ConnectionBinding BINDING = binding(17);

  private final ByteBuffer request = ByteBuffer.allocate(256);
  private final ByteBuffer answer = ByteBuffer.allocate(256);
  private Handshake initiator;
  private Handshake responder;

  private static Endpoint endpoint(long incarnation) {
    return TestExecutor.endpoint(incarnation, TestAddresses.listener("127.0.0.1", 1));
  }

  private static ConnectionBinding binding(int queuePair) {
    InetAddress address = InetAddress.getLoopbackAddress();
    return new ConnectionBinding(queuePair, address, address);
  }

  @BeforeEach
  void open() {
    initiator = Handshake.ofInitiator(SERVER, new Identity(READER, SECRET));
    responder = Handshake.ofResponder(new Identity(SERVER, SECRET));
  }

  private static ByteBuffer sent(ByteBuffer message, int lengthBytes) {
    return message.slice(0, lengthBytes);
  }

  private ByteBuffer request() {
    return sent(request, initiator.writeRequest(request, BINDING));
  }

  private ByteBuffer answer() {
    return sent(answer, responder.writeReply(answer));
  }

  @Test
  void shouldNotProveEitherEndByOneFlippedBit() {
    for (int bit = 0; bit < 8 * SetupMessages.REQUEST_BYTES; bit++) {
      open();
      ByteBuffer flipped = request();
      flipped.put(bit / 8, (byte) (flipped.get(bit / 8) ^ 1 << bit % 8));
      assertThat(responder.takeRequest(flipped, BINDING)).as("request bit %s", bit).isNotNull();
    }
    for (int bit = 0; bit < 8 * SetupMessages.REPLY_BYTES; bit++) {
      open();
      responder.takeRequest(request(), BINDING);
      ByteBuffer flipped = answer();
      flipped.put(bit / 8, (byte) (flipped.get(bit / 8) ^ 1 << bit % 8));
      assertThat(initiator.takeReply(flipped)).as("answer bit %s", bit).isFalse();
    }
  }

  /** The initiator sends first. */
  @Test
  void shouldTakeNoReplyBeforeTheRequestIsSent() {
    responder.takeRequest(request(), BINDING);
    Handshake early = Handshake.ofInitiator(SERVER, new Identity(READER, SECRET));
    assertThatThrownBy(() -> early.takeReply(answer()))
        .isInstanceOf(MalformedMessageException.class);
  }
}
