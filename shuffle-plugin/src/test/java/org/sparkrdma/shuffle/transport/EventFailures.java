// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.sparkrdma.shuffle.transport.DeviceFailure.ALWAYS;
import static org.sparkrdma.shuffle.transport.DeviceFailure.EIO;

import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.transport.DeviceFailure.Effect;
import org.sparkrdma.shuffle.transport.DeviceFailure.When;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * Cases of {@link DeviceFailureTest}: events of a connection are lost, or the calls that take
 * events fail, so that descriptors stay ready.
 */
final class EventFailures {
  private static final String REASONS = "lost-peer stopped connect-failed";

  // enum ibv_event_type
  private static final int PORT_ACTIVE = 9;

  // enum rdma_cm_event_type
  private static final int CONNECT_ERROR = 6;
  private static final int DISCONNECTED = 10;
  private static final int ADDR_CHANGE = 14;
  private static final int TIMEWAIT_EXIT = 15;

  private EventFailures() {}

  static List<DeviceFailure> all() {
    return List.of(
        DeviceFailure.fails(
            "rdma_get_cm_event",
            EIO,
            1,
            ALWAYS,
            When.UNCONNECTED,
            Effect.STOPS,
            "connect-failed stopped"),
        readyForEver("rdma_get_cm_event", device -> device.raiseOnConnections(TIMEWAIT_EXIT)),
        DeviceFailure.fails(
            "ibv_get_cq_event", EIO, 1, ALWAYS, When.CONNECTED, Effect.STOPS, REASONS),
        readyForEver("ibv_get_async_event", device -> device.raise(PORT_ACTIVE, 1)),
        lost("CONNECT_ERROR", CONNECT_ERROR),
        lost("ADDR_CHANGE", ADDR_CHANGE),
        DeviceFailure.of(
            "a READ completes with an error, and the event DISCONNECTED is lost always",
            When.CONNECTED,
            Effect.READS_FAIL,
            "read-error lost-peer",
            device -> {
              device.lose(DISCONNECTED, ALWAYS);
              device.limit("failing_reads", 1);
            }));
  }

  private static DeviceFailure lost(String name, int event) {
    return DeviceFailure.of(
        "the connection manager's event " + name + " of both ends is lost",
        When.CONNECTED,
        Effect.GOES_ON,
        "",
        device -> {
          device.lose(event, ALWAYS);
          device.raiseOnConnections(event);
        });
  }

  private static DeviceFailure readyForEver(String call, Consumer<ScriptedLibrary> event) {
    return DeviceFailure.of(
        call + " fails for ever with errno " + EIO,
        When.CONNECTED,
        Effect.STOPS,
        REASONS,
        device -> {
          device.fail(call, EIO, 1, ALWAYS);
          event.accept(device);
        });
  }
}
