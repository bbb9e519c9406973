// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Events of the connection manager that are lost, late, or report failures. */
@Tag("slow")
class ScriptedDeviceSetUpTest extends ScriptedDeviceFixture {
  private static final int SLOW_MS = 1_000;

  /** Until the test ends it. */
  private static final int ENDLESS_MS = 600_000;

  /** A responder that ends before RTU arrives rejects a connection that the initiator has. */
  @ParameterizedTest(name = "the event {0} for an established connection")
  @ValueSource(
      ints = {ScriptedLibrary.CONNECT_ERROR, ScriptedLibrary.UNREACHABLE, ScriptedLibrary.REJECTED})
  void shouldEndAConnectionThatTheKernelReportsAsFailed(int event) throws Exception {
    ScriptedExchange exchange = connect();

    library.raiseOnConnections(event);

    exchange.expect(ConnectionEvent.Type.DISCONNECTED);
  }

  /**
   * Events of many connections come at once when a switch fails; each may cost calls of the kernel.
   */
  @Test
  void shouldTakeAFewOfManyEventsInEachTurn() throws Exception {
    int each = 20;
    String call = "rdma_get_cm_event";
    ScriptedExchange exchange = connect();
    exchange.expectNoEvent();
    for (int i = 0; i < each; i++) {
      library.raiseOnConnections(ScriptedLibrary.TIMEWAIT_EXIT);
    }
    long before = library.calls(call);

    assertThat(exchange.node.manager.pollEvent()).isNull();

    assertThat(library.calls(call) - before).isEqualTo(IbverbsConnectionManager.EVENTS_PER_TURN);
    while (library.calls(call) - before < 2L * each) {
      exchange.turn();
    }
    exchange.transfer();
  }

  /** librdmacm waits for the daemon ibacm in this call. */
  @Test
  void shouldTakeOtherEventsWhileARouteIsBeingResolved() throws Exception {
    library.delay("rdma_resolve_route", ENDLESS_MS);
    try {
      ScriptedExchange exchange = open();
      resolveUntilTheRouteIsAsked(exchange);

      library.raise(ScriptedLibrary.DEVICE_FATAL, 1);

      exchange.expect(ConnectionEvent.Type.DEVICE_DOWN);
      library.endDelays();
      exchange.expect(ConnectionEvent.Type.RESOLVED);
    } finally {
      library.endDelays();
    }
  }

  @Test
  void shouldEndAnAttemptWhoseRouteIsResolvedTooLate() throws Exception {
    library.delay("rdma_resolve_route", SLOW_MS);
    ScriptedExchange exchange = open();
    exchange.resolve(Duration.ofMillis(SLOW_MS / 4));

    assertThatThrownBy(() -> exchange.expect(ConnectionEvent.Type.RESOLVED))
        .hasMessage("RESOLVE_FAILED: no route to the address: no answer within the time-out");
  }

  @Test
  void shouldCloseWhileARouteIsBeingResolved() throws Exception {
    library.delay("rdma_resolve_route", SLOW_MS / 2);
    ScriptedExchange exchange = open();
    resolveUntilTheRouteIsAsked(exchange);
  }

  private static void resolveUntilTheRouteIsAsked(ScriptedExchange exchange) throws Exception {
    long before = library.calls("rdma_resolve_route");
    exchange.resolve(Duration.ofSeconds(10));
    while (library.calls("rdma_resolve_route") == before) {
      exchange.turn();
    }
  }
}
