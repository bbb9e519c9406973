// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import org.sparkrdma.shuffle.transport.DeviceFailure.Effect;
import org.sparkrdma.shuffle.transport.DeviceFailure.When;

/**
 * Cases of {@link DeviceFailureTest}: failures that the connection manager reports during a set-up,
 * or whose report is lost, and a limit of locked memory that counts rings.
 */
final class SetUpFailures {
  private static final String FAILED = "connect-failed";
  private static final String NO_ROOM = "pool-empty";

  private static final int ETIMEDOUT = 110;
  private static final int EHOSTUNREACH = 113;

  // enum rdma_cm_event_type
  private static final int ADDR_ERROR = 1;
  private static final int ROUTE_ERROR = 3;
  private static final int CONNECT_ERROR = 6;
  private static final int UNREACHABLE = 7;
  private static final int REJECTED = 8;

  private SetUpFailures() {}

  static List<DeviceFailure> all() {
    return List.of(
        DeviceFailure.of(
            "the event ADDR_ERROR reports errno 113",
            When.UNCONNECTED,
            Effect.GIVES_UP,
            FAILED,
            device -> device.limit("address_error", EHOSTUNREACH)),
        DeviceFailure.of(
            "the event ADDR_ERROR is lost",
            When.UNCONNECTED,
            Effect.WAITS_ON,
            FAILED,
            device -> {
              device.limit("address_error", EHOSTUNREACH);
              device.lose(ADDR_ERROR, 1);
            }),
        DeviceFailure.of(
            "the event ROUTE_ERROR reports errno 110",
            When.UNCONNECTED,
            Effect.GIVES_UP,
            FAILED,
            device -> device.limit("route_error", ETIMEDOUT)),
        DeviceFailure.of(
            "the event ROUTE_ERROR is lost",
            When.UNCONNECTED,
            Effect.WAITS_ON,
            FAILED,
            device -> {
              device.limit("route_error", ETIMEDOUT);
              device.lose(ROUTE_ERROR, 1);
            }),
        answer("CONNECT_ERROR", CONNECT_ERROR),
        lostAnswer("CONNECT_ERROR", CONNECT_ERROR),
        answer("UNREACHABLE", UNREACHABLE),
        lostAnswer("UNREACHABLE", UNREACHABLE),
        answer("REJECTED", REJECTED),
        lostAnswer("REJECTED", REJECTED),
        DeviceFailure.of(
            "no more memory may be locked, not even for rings",
            When.UNCONNECTED,
            Effect.GIVES_UP_FOR_NOW,
            NO_ROOM,
            device -> device.limit("memlock", 1)),
        DeviceFailure.of(
            "no more memory may be locked, not even for rings",
            When.CONNECTED,
            Effect.WAITS,
            NO_ROOM,
            device -> device.limit("memlock", 1)));
  }

  private static DeviceFailure answer(String name, int event) {
    return DeviceFailure.of(
        "the event " + name + " answers a connection request",
        When.UNCONNECTED,
        Effect.GIVES_UP,
        FAILED,
        device -> device.limit("connect_event", event));
  }

  private static DeviceFailure lostAnswer(String name, int event) {
    return DeviceFailure.of(
        "the event " + name + " that answers a connection request is lost",
        When.UNCONNECTED,
        Effect.WAITS_ON,
        FAILED,
        device -> {
          device.limit("connect_event", event);
          device.lose(event, 1);
        });
  }
}
