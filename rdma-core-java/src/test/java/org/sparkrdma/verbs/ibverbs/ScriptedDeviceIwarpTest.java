// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;

/**
 * A device of iWARP, where the kernel waits for the outcome of a connection in each call that ends
 * it: the owner goes on.
 */
class ScriptedDeviceIwarpTest extends ScriptedDeviceFixture {
  // enum rdma_cm_event_type
  private static final int CONNECT_REQUEST = 4;
  private static final int UNREACHABLE = 7;
  private static final int ESTABLISHED = 9;

  private static final int QUEUE_PAIRS_OF_A_CONNECTION = 2;

  @BeforeEach
  void useIwarp() {
    library.limit("iwarp", 1);
  }

  @Test
  @DisplayName("iWARP: a request has no answer when its connection is closed")
  void shouldGoOnWhileARequestWithoutAnAnswerIsClosed() throws Exception {
    ScriptedExchange exchange = connect();
    library.lose(CONNECT_REQUEST, 1);
    Connection initiator = exchange.request();

    initiator.close();

    exchange.transfer();
    exchange.expectNoEvent();
    assertThat(library.waits()).isZero();
    library.raiseOutcome(UNREACHABLE);
    exchange.awaitQueuePairs(QUEUE_PAIRS_OF_A_CONNECTION);
    exchange.expectNoEvent();
  }

  @Test
  @DisplayName("iWARP: a request has no answer within the connect time-out")
  void shouldGoOnWhenARequestWithoutAnAnswerIsClosedAfterItsTimeout() throws Exception {
    ScriptedExchange exchange = connect();
    library.lose(CONNECT_REQUEST, 1);
    Connection initiator = exchange.request();
    exchange.expect(ConnectionEvent.Type.UNREACHABLE);

    initiator.close();

    exchange.transfer();
    assertThat(library.waits()).isZero();
    library.raiseOutcome(ESTABLISHED);
    exchange.awaitQueuePairs(QUEUE_PAIRS_OF_A_CONNECTION);
    exchange.expectNoEvent();
  }

  @Test
  @DisplayName("iWARP: an accepted connection is not established when it is closed")
  void shouldGoOnWhileAnAcceptedConnectionIsClosed() throws Exception {
    ScriptedExchange exchange = connect();
    Connection initiator = exchange.request();
    library.lose(ESTABLISHED, 1);
    Connection responder = exchange.accept();
    exchange.expect(ConnectionEvent.Type.ESTABLISHED);

    responder.close();

    exchange.transfer();
    assertThat(library.waits()).isZero();
    library.raiseOutcome(ESTABLISHED);
    exchange.awaitQueuePairs(QUEUE_PAIRS_OF_A_CONNECTION + 1);
    initiator.close();
  }

  @Test
  @DisplayName("iWARP: an accepted connection is not established when it is disconnected")
  void shouldDisconnectAnAcceptedConnectionWhenItIsEstablished() throws Exception {
    ScriptedExchange exchange = connect();
    Connection initiator = exchange.request();
    library.lose(ESTABLISHED, 1);
    Connection responder = exchange.accept();
    exchange.expect(ConnectionEvent.Type.ESTABLISHED);
    long before = library.calls("rdma_disconnect");

    responder.disconnect();

    exchange.expect(ConnectionEvent.Type.CONNECT_ERROR);
    exchange.transfer();
    assertThat(library.calls("rdma_disconnect")).isEqualTo(before);
    library.raiseOutcome(ESTABLISHED);
    assertThat(exchange.expect(ConnectionEvent.Type.DISCONNECTED).connection()).isSameAs(initiator);
    assertThat(library.waits()).isZero();
    responder.close();
    initiator.close();
  }

  @Test
  @DisplayName("iWARP: a request has no answer when its device is closed")
  void shouldCloseTheDeviceWhenARequestHasNoAnswer() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      library.lose(CONNECT_REQUEST, 1);
      exchange.request().close();
      exchange.transfer();
    }

    assertThat(library.waits()).isEqualTo(1);
  }
}
