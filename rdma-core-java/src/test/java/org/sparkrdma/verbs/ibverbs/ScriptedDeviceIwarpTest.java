// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * A device of iWARP, where the kernel waits for the outcome of a connection in each call that ends
 * it: the owner goes on.
 */
class ScriptedDeviceIwarpTest extends ScriptedDeviceFixture {
  private static final int QUEUE_PAIRS_OF_A_CONNECTION = 2;

  /**
   * Time for which the device waits for an outcome, and holds a request, in tests that await it.
   */
  private static final int SHORT_MS = 200;

  /** The same in tests that end the wait. */
  private static final int LONG_MS = 15_000;

  @BeforeEach
  void useIwarp() {
    library.limit("iwarp", 1);
  }

  @Test
  void shouldGoOnWhileARequestWithoutAnAnswerIsClosed() throws Exception {
    ScriptedExchange exchange = connect();
    library.lose(ScriptedLibrary.CONNECT_REQUEST, 1);
    Connection initiator = exchange.request();

    initiator.close();

    exchange.transfer();
    exchange.expectNoEvent();
    assertThat(library.waits()).isZero();
    library.raiseOutcome(ScriptedLibrary.UNREACHABLE);
    exchange.awaitQueuePairs(QUEUE_PAIRS_OF_A_CONNECTION);
    exchange.expectNoEvent();
  }

  @Test
  void shouldGoOnWhileAnAcceptedConnectionIsClosed() throws Exception {
    ScriptedExchange exchange = connect();
    Connection initiator = exchange.request();
    library.lose(ScriptedLibrary.ESTABLISHED, 1);
    Connection responder = exchange.accept();
    exchange.expect(ConnectionEvent.Type.ESTABLISHED);

    responder.close();

    exchange.transfer();
    assertThat(library.waits()).isZero();
    library.raiseOutcome(ScriptedLibrary.ESTABLISHED);
    exchange.awaitQueuePairs(QUEUE_PAIRS_OF_A_CONNECTION + 1);
    initiator.close();
  }

  @Test
  void shouldDisconnectAnAcceptedConnectionWhenItIsEstablished() throws Exception {
    ScriptedExchange exchange = connect();
    Connection initiator = exchange.request();
    library.lose(ScriptedLibrary.ESTABLISHED, 1);
    Connection responder = exchange.accept();
    exchange.expect(ConnectionEvent.Type.ESTABLISHED);
    long before = library.calls("rdma_disconnect");

    responder.disconnect();

    exchange.expect(ConnectionEvent.Type.CONNECT_ERROR);
    exchange.transfer();
    assertThat(library.calls("rdma_disconnect")).isEqualTo(before);
    library.raiseOutcome(ScriptedLibrary.ESTABLISHED);
    assertThat(exchange.expect(ConnectionEvent.Type.DISCONNECTED).connection()).isSameAs(initiator);
    assertThat(library.waits()).isZero();
    responder.close();
    initiator.close();
  }

  @Test
  void shouldCloseTheDeviceWhenARequestHasNoAnswer() throws Exception {
    library.limit("outcome_ms", SHORT_MS);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      library.lose(ScriptedLibrary.CONNECT_REQUEST, 1);
      exchange.request().close();
      exchange.transfer();
    }

    assertThat(library.waits()).isEqualTo(1);
  }

  /** Same as while the kernel asks the port mapper iwpmd. */
  @Test
  void shouldConnectToOtherPeersWhileARequestDoesNotReturn() throws Exception {
    library.limit("outcome_ms", LONG_MS);
    ScriptedExchange exchange = connect();
    exchange.connectTimeout = Duration.ofMillis(LONG_MS);
    InetSocketAddress first = exchange.listenerAddress();
    InetSocketAddress held = exchange.listen();
    library.limit("held_port", held.getPort());
    exchange.request(held);

    exchange.transfer();
    exchange.request(first);
    exchange.accept();
    exchange.expectEstablished();

    library.limit("held_port", 0);
    exchange.accept();
    exchange.expectEstablished();
    exchange.transfer();
  }

  @Test
  void shouldGoOnWhileAConnectionIsClosedInARequestThatDoesNotReturn() throws Exception {
    library.limit("outcome_ms", LONG_MS);
    ScriptedExchange exchange = connect();
    exchange.connectTimeout = Duration.ofMillis(LONG_MS);
    InetSocketAddress held = exchange.listen();
    library.limit("held_port", held.getPort());

    exchange.request(held).close();

    exchange.transfer();
    library.limit("held_port", 0);
    exchange.expect(ConnectionEvent.Type.CONNECT_REQUEST).connection().reject(new byte[0]);
    exchange.awaitQueuePairs(QUEUE_PAIRS_OF_A_CONNECTION);
    exchange.expectNoEvent();
    assertThat(library.waits()).isZero();
  }

  @Test
  void shouldCloseTheDeviceWhenARequestHasReturned() throws Exception {
    library.limit("outcome_ms", SHORT_MS);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      library.limit("held_port", exchange.listenerAddress().getPort());
      exchange.request();
    }

    assertThat(library.calls("rdma_destroy_id")).isPositive();
  }

  @ParameterizedTest(name = "iWARP: rdma_connect fails with errno {0}")
  @CsvSource({"22, CONNECT_ERROR", "111, REJECTED", "113, UNREACHABLE"})
  void shouldReportARequestThatFails(int errno, ConnectionEvent.Type type) throws Exception {
    ScriptedExchange exchange = connect();
    library.fail("rdma_connect", errno, 1, 1);

    Connection initiator = exchange.request();

    ConnectionEvent event = exchange.expect(type);
    assertThat(event.connection()).isSameAs(initiator);
    assertThat(event.reason()).startsWith("rdma_connect failed: errno=" + errno);
    initiator.close();
    exchange.transfer();
    assertThat(library.waits()).isZero();
  }
}
