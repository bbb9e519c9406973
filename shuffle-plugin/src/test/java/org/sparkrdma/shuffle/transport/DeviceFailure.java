// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.sparkrdma.shuffle.settings.ServeSettings;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * A case of {@link DeviceFailureTest}.
 *
 * @param device what the device does
 * @param when from when it does so
 * @param serve copies, or windows on demand: others are not mapped while they are registered, so
 *     the simulated device cannot read them
 * @param effect what the transport does
 * @param reasons of blocks by TCP, separated by spaces; blocks may also come by READ, unless {@link
 *     Effect#allByTcp()}
 * @param script makes the device do so
 */
record DeviceFailure(
    String device,
    When when,
    ServeSettings.Mode serve,
    Effect effect,
    String reasons,
    Consumer<ScriptedLibrary> script) {
  private static final int EIO = 5;
  private static final int EAGAIN = 11;
  private static final int ENOMEM = 12;
  private static final int EFAULT = 14;
  private static final int ENODEV = 19;
  private static final int EINVAL = 22;
  private static final int ENOSYS = 38;
  private static final int EOPNOTSUPP = 95;
  private static final int ETIMEDOUT = 110;
  private static final int EHOSTUNREACH = 113;
  private static final int ALWAYS = ScriptedLibrary.FOR_EVER;

  // enum ibv_event_type
  private static final int UNKNOWN_EVENT = 99;

  private static final String CONNECT_FAILED = "connect-failed";
  private static final String LOST = "lost-peer";
  private static final String NO_ROOM = "pool-empty";

  /** The time from which the device does something. */
  enum When {
    /** Before it is opened. */
    FROM_THE_START("from the start"),
    /** Before there is a connection. */
    UNCONNECTED("before there is a connection"),
    /** The executors are connected, and the server has registered the blocks. */
    CONNECTED("on a connection"),
    /** The executors are connected, and the blocks are of another map output. */
    CONNECTED_OTHER_OUTPUT("on a connection, for a new map output");

    final String text;

    When(String text) {
      this.text = text;
    }
  }

  /** A reaction of the transport. */
  enum Effect {
    /** Nothing changes. */
    GOES_ON,
    /** The call or the attempt is repeated. */
    REPEATS,
    /** The connection ends, and the next request makes a new one. */
    RECONNECTS,
    /** Blocks wait for memory for 30 ms. */
    WAITS,
    /** The server answers BUSY, or serves the output from copies. */
    SERVES_OTHERWISE,
    /** Blocks use TCP after the connect time-out, and the attempt waits on for the peer. */
    WAITS_ON,
    /** The attempt ends; the peer is quarantined when another one fails. */
    GIVES_UP,
    /** The attempt ends without a quarantine. */
    GIVES_UP_FOR_NOW,
    /** RDMA ends in the executor until it starts again. */
    STOPS,
    /** RDMA ends in the executor, which starts again on a trusted fabric only. */
    STOPS_UNLESS_TRUSTED;

    /** Whether the attempt of a connection fails, so that no block can come by READ. */
    boolean allByTcp() {
      return this == WAITS_ON || this == GIVES_UP || this == GIVES_UP_FOR_NOW;
    }

    /** Whether RDMA ends in an executor. */
    boolean stops() {
      return this == STOPS || this == STOPS_UNLESS_TRUSTED;
    }
  }

  @Override
  public String toString() {
    return device + ", " + when.text;
  }

  private static DeviceFailure of(
      String device, When when, Effect effect, String reasons, Consumer<ScriptedLibrary> script) {
    return new DeviceFailure(device, when, ServeSettings.Mode.COPY, effect, reasons, script);
  }

  private static DeviceFailure fails(
      String call, int errno, int from, int count, When when, Effect effect, String reasons) {
    String times = count == ALWAYS ? "for ever" : count == 1 ? "once" : count + " times";
    return new DeviceFailure(
        (from == 1 ? call : call + " number " + from) + " fails " + times + " with errno " + errno,
        when,
        call.equals("ibv_reg_mr") ? ServeSettings.Mode.ODP : ServeSettings.Mode.COPY,
        effect,
        reasons,
        device -> device.fail(call, errno, from, count));
  }

  /** A call on a thread of the engine, or of the agent. */
  private static DeviceFailure slow(String call) {
    return of(
        "each " + call + " takes 30 ms",
        When.UNCONNECTED,
        Effect.GOES_ON,
        "",
        device -> device.delay(call, 30));
  }

  private static DeviceFailure limited(
      String device, When when, Effect effect, String reasons, String limit, long value) {
    return of(device, when, effect, reasons, library -> library.limit(limit, value));
  }

  private static DeviceFailure limitedFromTheStart(String device, String limit, long value) {
    return limited(device, When.FROM_THE_START, Effect.GOES_ON, "", limit, value);
  }

  private static DeviceFailure loses(String name, int event, int count, Effect effect) {
    return of(
        "the event " + name + " is lost" + (count == 1 ? "" : " " + count + " times"),
        When.UNCONNECTED,
        effect,
        effect.allByTcp() ? CONNECT_FAILED : "",
        device -> device.lose(event, count));
  }

  private static DeviceFailure raises(String name, int event, Effect effect, String reasons) {
    return of(
        "the asynchronous event " + name,
        When.CONNECTED,
        effect,
        reasons,
        device -> device.raise(event, 1));
  }

  private static DeviceFailure raisesOnConnections(
      String name, int event, Effect effect, String reasons) {
    return of(
        "the connection manager's event " + name + " of both ends",
        When.CONNECTED,
        effect,
        reasons,
        device -> device.raiseOnConnections(event));
  }

  /** The event answers a connection request. */
  private static DeviceFailure answer(String name, int event) {
    return limited(
        "the event " + name + " answers a connection request",
        When.UNCONNECTED,
        Effect.GIVES_UP,
        CONNECT_FAILED,
        "connect_event",
        event);
  }

  /** The call that takes events fails after an event, so that its descriptor stays ready. */
  private static DeviceFailure readyForEver(String call, Consumer<ScriptedLibrary> event) {
    return of(
        call + " fails for ever with errno " + EIO,
        When.CONNECTED,
        Effect.STOPS,
        "lost-peer stopped connect-failed",
        device -> {
          device.fail(call, EIO, 1, ALWAYS);
          event.accept(device);
        });
  }

  /** One case for each way in which the transport reacts. */
  static Stream<DeviceFailure> all() {
    return Stream.of(setUps(), setUpEvents(), connections(), memory(), events(), devices())
        .flatMap(List::stream);
  }

  private static List<DeviceFailure> setUps() {
    When when = When.UNCONNECTED;
    return List.of(
        fails("rdma_create_id", ENOMEM, 1, 1, when, Effect.GIVES_UP_FOR_NOW, NO_ROOM),
        fails("rdma_create_id", EINVAL, 1, 1, when, Effect.GIVES_UP, CONNECT_FAILED),
        fails("rdma_resolve_addr", ENODEV, 1, 1, when, Effect.GIVES_UP, CONNECT_FAILED),
        fails("rdma_resolve_route", EINVAL, 1, 1, when, Effect.GIVES_UP, CONNECT_FAILED),
        fails("rdma_connect", EHOSTUNREACH, 1, ALWAYS, when, Effect.GIVES_UP, CONNECT_FAILED),
        fails("rdma_accept", EINVAL, 1, 1, when, Effect.GIVES_UP, CONNECT_FAILED),
        fails("rdma_create_qp", EINVAL, 1, 1, when, Effect.GIVES_UP, CONNECT_FAILED),
        fails("rdma_create_qp", ENOMEM, 1, 1, when, Effect.GIVES_UP_FOR_NOW, NO_ROOM),
        fails("rdma_create_qp", ENOMEM, 2, 1, when, Effect.GOES_ON, ""),
        // As of a control group of the kernel.
        fails("rdma_create_qp", EAGAIN, 1, 1, when, Effect.GIVES_UP_FOR_NOW, NO_ROOM),
        fails("rdma_create_qp", EAGAIN, 2, 1, when, Effect.GOES_ON, ""),
        fails("ibv_post_recv", EIO, 1, 1, when, Effect.GIVES_UP, CONNECT_FAILED + " " + LOST),
        // After three of each end: those of the REQUEST, the REPLY and the CONFIRM.
        fails("ibv_post_recv", ENOMEM, 7, 1, when, Effect.GIVES_UP, CONNECT_FAILED + " " + LOST),
        fails("ibv_post_recv", ENOMEM, 8, 1, when, Effect.RECONNECTS, ""),
        fails("ibv_post_recv", ENOMEM, 9, 1, when, Effect.RECONNECTS, LOST),
        fails(
            "ibv_modify_qp",
            EINVAL,
            1,
            ALWAYS,
            when,
            Effect.STOPS_UNLESS_TRUSTED,
            "connect-failed lost-peer stopped"),
        fails("rdma_set_option", ENOSYS, 1, ALWAYS, when, Effect.GOES_ON, ""),
        fails("ibv_query_qp", EOPNOTSUPP, 1, 1, when, Effect.GOES_ON, ""),
        fails("rdma_get_cm_event", EAGAIN, 1, 3, when, Effect.GOES_ON, ""),
        fails("rdma_get_cm_event", EIO, 1, ALWAYS, when, Effect.STOPS, CONNECT_FAILED + " stopped"),
        limited("no neighbour answers twice", when, Effect.REPEATS, "", "unanswered", 2),
        limited(
            "the peer's host rejects two requests because of a stale connection",
            when,
            Effect.REPEATS,
            "",
            "stale",
            2),
        limited(
            "the peer's host rejects each request because of a stale connection",
            when,
            Effect.GIVES_UP_FOR_NOW,
            CONNECT_FAILED,
            "stale",
            Integer.MAX_VALUE),
        limited(
            "no more memory may be locked, not even for rings",
            when,
            Effect.GIVES_UP_FOR_NOW,
            NO_ROOM,
            "memlock",
            1),
        slow("rdma_resolve_route"),
        slow("rdma_connect"),
        slow("rdma_create_qp"),
        slow("ibv_poll_cq"));
  }

  private static List<DeviceFailure> setUpEvents() {
    When when = When.UNCONNECTED;
    return List.of(
        loses("ADDR_RESOLVED", ScriptedLibrary.ADDR_RESOLVED, 1, Effect.WAITS_ON),
        loses("CONNECT_REQUEST", ScriptedLibrary.CONNECT_REQUEST, 1, Effect.WAITS_ON),
        loses("ESTABLISHED", ScriptedLibrary.ESTABLISHED, 1, Effect.GOES_ON),
        loses("ESTABLISHED", ScriptedLibrary.ESTABLISHED, 2, Effect.WAITS_ON),
        limited(
            "the event ADDR_ERROR reports errno 113",
            when,
            Effect.GIVES_UP,
            CONNECT_FAILED,
            "address_error",
            EHOSTUNREACH),
        limited(
            "the event ROUTE_ERROR reports errno 110",
            when,
            Effect.GIVES_UP,
            CONNECT_FAILED,
            "route_error",
            ETIMEDOUT),
        answer("CONNECT_ERROR", ScriptedLibrary.CONNECT_ERROR),
        answer("UNREACHABLE", ScriptedLibrary.UNREACHABLE),
        answer("REJECTED", ScriptedLibrary.REJECTED),
        of(
            "the event REJECTED that answers a connection request is lost",
            when,
            Effect.WAITS_ON,
            CONNECT_FAILED,
            device -> {
              device.limit("connect_event", ScriptedLibrary.REJECTED);
              device.lose(ScriptedLibrary.REJECTED, 1);
            }));
  }

  private static List<DeviceFailure> connections() {
    When when = When.CONNECTED;
    return List.of(
        fails("ibv_post_send", EIO, 1, 1, when, Effect.RECONNECTS, LOST),
        fails("ibv_post_send", EIO, 2, 1, when, Effect.RECONNECTS, LOST),
        fails("ibv_post_send", EIO, 3, 1, when, Effect.RECONNECTS, LOST),
        fails("ibv_post_send", ENOMEM, 1, 5, when, Effect.REPEATS, ""),
        fails("ibv_post_recv", EIO, 1, 1, when, Effect.RECONNECTS, LOST),
        fails("ibv_get_cq_event", EAGAIN, 1, 3, when, Effect.GOES_ON, ""),
        fails("ibv_poll_cq", EIO, 1, ALWAYS, when, Effect.STOPS, "stopped"),
        fails("ibv_req_notify_cq", EIO, 1, ALWAYS, when, Effect.STOPS, "stopped"),
        limited(
            "a READ completes with an error",
            when,
            Effect.RECONNECTS,
            "read-error lost-peer",
            "failing_reads",
            1),
        of(
            "a READ completes with an error, and the event DISCONNECTED is lost always",
            when,
            Effect.RECONNECTS,
            "read-error lost-peer",
            device -> {
              device.lose(ScriptedLibrary.DISCONNECTED, ALWAYS);
              device.limit("failing_reads", 1);
            }));
  }

  private static List<DeviceFailure> memory() {
    When other = When.CONNECTED_OTHER_OUTPUT;
    return List.of(
        // The window of a map output, at the server.
        fails("ibv_reg_mr", ENOMEM, 1, 1, other, Effect.SERVES_OTHERWISE, ""),
        fails(
            "ibv_reg_mr",
            EFAULT,
            1,
            ALWAYS,
            other,
            Effect.SERVES_OTHERWISE,
            "peer-busy pool-empty"),
        // More receive memory, at the reader.
        fails("ibv_reg_mr", ENOMEM, 1, ALWAYS, When.CONNECTED, Effect.WAITS, NO_ROOM),
        limited(
            "no more memory may be locked, not even for rings",
            When.CONNECTED,
            Effect.WAITS,
            NO_ROOM,
            "memlock",
            1));
  }

  private static List<DeviceFailure> events() {
    return List.of(
        raises("CQ_ERR", ScriptedLibrary.CQ_ERR, Effect.STOPS, "lost-peer stopped connect-failed"),
        raises("QP_FATAL", ScriptedLibrary.QP_FATAL, Effect.RECONNECTS, LOST),
        raises("SQ_DRAINED", ScriptedLibrary.SQ_DRAINED, Effect.GOES_ON, ""),
        raises("with the unknown number 99", UNKNOWN_EVENT, Effect.GOES_ON, ""),
        raisesOnConnections(
            "CONNECT_ERROR", ScriptedLibrary.CONNECT_ERROR, Effect.RECONNECTS, LOST),
        raisesOnConnections("ADDR_CHANGE", ScriptedLibrary.ADDR_CHANGE, Effect.RECONNECTS, LOST),
        raisesOnConnections("TIMEWAIT_EXIT", ScriptedLibrary.TIMEWAIT_EXIT, Effect.GOES_ON, ""),
        of(
            "the connection manager's event ADDR_CHANGE of both ends is lost",
            When.CONNECTED,
            Effect.GOES_ON,
            "",
            device -> {
              device.lose(ScriptedLibrary.ADDR_CHANGE, ALWAYS);
              device.raiseOnConnections(ScriptedLibrary.ADDR_CHANGE);
            }),
        fails(
            "ibv_get_cq_event",
            EIO,
            1,
            ALWAYS,
            When.CONNECTED,
            Effect.STOPS,
            "lost-peer stopped connect-failed"),
        readyForEver(
            "rdma_get_cm_event",
            device -> device.raiseOnConnections(ScriptedLibrary.TIMEWAIT_EXIT)),
        readyForEver(
            "ibv_get_async_event", device -> device.raise(ScriptedLibrary.PORT_ACTIVE, 1)));
  }

  private static List<DeviceFailure> devices() {
    return List.of(
        limitedFromTheStart("the device answers one READ at once", "rd_atom", 1),
        limitedFromTheStart(
            "the device answers 260 READs at once, of which librdmacm keeps 4", "rd_atom", 260),
        limitedFromTheStart("the device takes one element in each request", "sge", 1));
  }
}
