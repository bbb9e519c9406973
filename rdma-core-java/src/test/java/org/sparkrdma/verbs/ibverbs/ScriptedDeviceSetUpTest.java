// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.faults.FaultBound;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Events of the connection manager that are lost, late, or report failures. */
@Tag("slow")
class ScriptedDeviceSetUpTest extends ScriptedDeviceFixture {
  private static final int SLOW_MS = 1_000;

  /** Until the test ends it. */
  private static final int ENDLESS_MS = 600_000;

  /** A responder that ends before RTU arrives rejects a connection that the initiator has. */
  @ParameterizedTest(name = "the connection manager reports {1} for an established connection")
  @CsvSource({
    ScriptedLibrary.CONNECT_ERROR + ", CONNECT_ERROR",
    ScriptedLibrary.UNREACHABLE + ", UNREACHABLE",
    ScriptedLibrary.REJECTED + ", REJECTED"
  })
  void shouldEndAConnectionThatTheKernelReportsAsFailed(int event, String name) throws Exception {
    ScriptedExchange exchange = connect();

    library.raiseOnConnections(event);

    exchange.expect(ConnectionEvent.Type.DISCONNECTED);
  }

  /**
   * Events of many connections come at once when a switch fails; each may cost calls of the kernel.
   */
  @Test
  @DisplayName("many events of the connection manager come at once")
  void shouldTakeAFewOfManyEventsInEachTurn() throws Exception {
    int each = 20;
    String call = "rdma_get_cm_event";
    ScriptedExchange exchange = connect();
    exchange.expectNoEvent();
    for (int i = 0; i < each; i++) {
      library.raiseOnConnections(ScriptedLibrary.TIMEWAIT_EXIT);
    }
    long before = library.calls(call);

    assertThat(exchange.manager.pollEvent()).isNull();

    assertThat(library.calls(call) - before).isEqualTo(IbverbsConnectionManager.EVENTS_PER_TURN);
    while (library.calls(call) - before < 2L * each) {
      exchange.turn();
    }
    exchange.transfer();
  }

  /** librdmacm waits for the daemon ibacm in this call. */
  @Test
  @DisplayName("an event comes while a route is being resolved")
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
  @DisplayName("a route is resolved too late")
  void shouldEndAnAttemptWhoseRouteIsResolvedTooLate() throws Exception {
    boundSeconds = FaultBound.OF_A_WAIT;
    library.delay("rdma_resolve_route", SLOW_MS);
    ScriptedExchange exchange = open();
    exchange.resolve(Duration.ofMillis(SLOW_MS / 4));

    assertThatThrownBy(() -> exchange.expect(ConnectionEvent.Type.RESOLVED))
        .hasMessage("RESOLVE_FAILED: no route to the address: no answer within the time-out");
  }

  @Test
  @DisplayName("the device is closed while a route is being resolved")
  void shouldCloseWhileARouteIsBeingResolved() throws Exception {
    boundSeconds = FaultBound.OF_A_WAIT;
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
