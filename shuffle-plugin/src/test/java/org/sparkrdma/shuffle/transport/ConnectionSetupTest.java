// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.transport.ConnectionSetup.State;
import org.sparkrdma.shuffle.wire.Confirm;
import org.sparkrdma.shuffle.wire.ConnectionBinding;
import org.sparkrdma.shuffle.wire.Hello;
import org.sparkrdma.shuffle.wire.MalformedMessageException;

/** Transitions of a connection's set-up, by private data and by messages. */
class ConnectionSetupTest {
  private static final byte[] KEY = {1};
  private static final InetAddress HOST = InetAddress.getLoopbackAddress();
  private static final ConnectionBinding BINDING = new ConnectionBinding(0, HOST, HOST);
  private static final Hello REQUEST = Hello.request(0, 2, 1, new byte[Hello.NONCE_BYTES]);
  private static final Hello ANSWER = REQUEST.answer(5, new byte[Hello.NONCE_BYTES]);

  private final ConnectionSetup initiator = ConnectionSetup.ofInitiator(KEY);
  private final ConnectionSetup responder = ConnectionSetup.ofResponder(KEY);

  private byte[] request(boolean bySend) {
    if (bySend) {
      initiator.open();
      assertThat(initiator.state()).isEqualTo(State.OPENING);
      assertThat(initiator.expectsHello()).isFalse();
    }
    return initiator.request(REQUEST, new ConnectionBinding(0, HOST, HOST));
  }

  private ByteBuffer confirm() {
    ByteBuffer message = ByteBuffer.allocate(Confirm.LENGTH_BYTES);
    initiator.writeConfirm(message);
    return message.flip();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldProveBothEndsInThreeMessages(boolean bySend) {
    assertThat(initiator.isAttempt()).isTrue();
    byte[] request = request(bySend);
    assertThat(initiator.state()).isEqualTo(State.CONNECTING);
    assertThat(initiator.isAttempt()).isTrue();
    assertThat(initiator.expectsHello()).isTrue();
    assertThat(Hello.decode(request).isProvenRequest(request, KEY, BINDING)).isTrue();

    assertThat(responder.isUnconfirmed()).isTrue();
    assertThat(responder.expectsHello()).isTrue();
    responder.takeRequest(BINDING, REQUEST, ANSWER);
    assertThat(responder.expectsHello()).isFalse();
    assertThat(responder.isUnconfirmed()).isTrue();
    assertThat(responder.isPeerProven()).isFalse();

    assertThat(initiator.takeAnswer(responder.answer())).isTrue();
    assertThat(initiator.isPeerProven()).isTrue();
    assertThat(initiator.isAttempt()).isFalse();
    responder.takeConfirm(confirm());
    assertThat(responder.isPeerProven()).isTrue();
    assertThat(responder.isUnconfirmed()).isFalse();
    assertThat(responder.generation()).isEqualTo(initiator.generation()).isEqualTo(5);

    initiator.establish();
    responder.establish();
    assertThat(initiator.isEstablished()).isTrue();
    assertThat(responder.isEstablished()).isTrue();
  }

  @Test
  void shouldTakeNoAnswerBeforeTheRequestIsSent() {
    initiator.open();
    responder.takeRequest(BINDING, REQUEST, ANSWER);
    assertThat(initiator.takeAnswer(responder.answer())).isFalse();
    assertThat(initiator.state()).isEqualTo(State.OPENING);
  }

  @Test
  void shouldTakeNoAnswerTwice() {
    request(true);
    responder.takeRequest(BINDING, REQUEST, ANSWER);
    assertThat(initiator.takeAnswer(responder.answer())).isTrue();
    assertThat(initiator.takeAnswer(responder.answer())).isFalse();
  }

  @Test
  void shouldTakeNoAnswerOfAnotherKey() {
    request(true);
    ConnectionSetup stranger = ConnectionSetup.ofResponder(new byte[] {2});
    stranger.takeRequest(BINDING, REQUEST, ANSWER);
    assertThat(initiator.takeAnswer(stranger.answer())).isFalse();
    assertThat(initiator.state()).isEqualTo(State.CONNECTING);
  }

  @Test
  void shouldTakeNoConfirmWithoutARequest() {
    request(true);
    ConnectionSetup other = ConnectionSetup.ofResponder(KEY);
    other.takeRequest(BINDING, REQUEST, ANSWER);
    initiator.takeAnswer(other.answer());
    ByteBuffer confirm = confirm();
    assertThatThrownBy(() -> responder.takeConfirm(confirm))
        .isInstanceOf(MalformedMessageException.class);
    responder.refuse();
    assertThatThrownBy(() -> responder.takeConfirm(confirm))
        .isInstanceOf(MalformedMessageException.class);
    assertThat(responder.isUnconfirmed()).isTrue();
    assertThat(responder.expectsHello()).isFalse();
  }

  @Test
  void shouldRefuseTransitionsOutOfOrder() {
    assertThatThrownBy(initiator::establish).isInstanceOf(IllegalStateException.class);
    request(true);
    assertThatThrownBy(initiator::open).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> request(false)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(initiator::refuse).isInstanceOf(IllegalStateException.class);
    responder.takeRequest(BINDING, REQUEST, ANSWER);
    assertThatThrownBy(responder::refuse).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(responder::establish).isInstanceOf(IllegalStateException.class);
    responder.close();
    assertThatThrownBy(responder::open).isInstanceOf(IllegalStateException.class);
  }
}
