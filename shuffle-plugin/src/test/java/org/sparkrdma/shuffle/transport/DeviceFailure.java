// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.sparkrdma.faults.DeviceCase;
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
    Consumer<ScriptedLibrary> script)
    implements DeviceCase {
  static final int EIO = 5;
  private static final int EAGAIN = 11;
  private static final int ENOMEM = 12;
  private static final int EFAULT = 14;
  private static final int ENODEV = 19;
  private static final int EINVAL = 22;
  private static final int ENOSYS = 38;
  private static final int EOPNOTSUPP = 95;
  private static final int EADDRNOTAVAIL = 99;
  private static final int ECONNRESET = 104;
  private static final int ETIMEDOUT = 110;
  private static final int ECONNREFUSED = 111;
  private static final int EHOSTUNREACH = 113;

  static final int ALWAYS = ScriptedLibrary.FOR_EVER;

  /** No number of enum ibv_event_type. */
  private static final int UNKNOWN_EVENT = 99;

  /** Names of enum ibv_event_type, by number. */
  private static final String[] EVENTS =
      ("CQ_ERR QP_FATAL QP_REQ_ERR QP_ACCESS_ERR COMM_EST SQ_DRAINED PATH_MIG PATH_MIG_ERR"
              + " DEVICE_FATAL PORT_ACTIVE PORT_ERR LID_CHANGE PKEY_CHANGE SM_CHANGE SRQ_ERR"
              + " SRQ_LIMIT_REACHED QP_LAST_WQE_REACHED CLIENT_REREGISTER GID_CHANGE WQ_FATAL")
          .split(" ");

  /** Names of enum rdma_cm_event_type, by number. */
  private static final String[] CM_EVENTS =
      ("ADDR_RESOLVED ADDR_ERROR ROUTE_RESOLVED ROUTE_ERROR CONNECT_REQUEST CONNECT_RESPONSE"
              + " CONNECT_ERROR UNREACHABLE REJECTED ESTABLISHED DISCONNECTED DEVICE_REMOVAL"
              + " MULTICAST_JOIN MULTICAST_ERROR ADDR_CHANGE TIMEWAIT_EXIT")
          .split(" ");

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
    GOES_ON("goes on"),
    REPEATS("repeats the call or the attempt"),
    RECONNECTS("ends the connection; the next request makes a new one"),
    WAITS("waits for memory for 30 ms"),
    SERVES_OTHERWISE("answers BUSY, or serves the output from copies"),
    READS_FAIL("ends the connection; the next request makes a new one"),
    WAITS_ON("hands the blocks over after the connect time-out, and waits on for the peer"),
    GIVES_UP("ends the attempt; the peer is quarantined when another one fails"),
    GIVES_UP_FOR_NOW("ends the attempt, without a quarantine"),
    STOPS("ends RDMA in the executor until it starts again"),
    STOPS_UNLESS_TRUSTED("ends RDMA in the executor, which starts again on a trusted fabric only");

    final String text;

    Effect(String text) {
      this.text = text;
    }

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
  public String plugIn() {
    return effect.text;
  }

  @Override
  public String answers() {
    if (reasons.isEmpty()) {
      return "READ";
    }
    return (effect.allByTcp() ? "TCP (" : "READ or TCP (") + reasons.replace(" ", ", ") + ")";
  }

  @Override
  public String toString() {
    return device + ", " + when.text;
  }

  static DeviceFailure of(
      String device, When when, Effect effect, String reasons, Consumer<ScriptedLibrary> script) {
    return new DeviceFailure(device, when, ServeSettings.Mode.COPY, effect, reasons, script);
  }

  static DeviceFailure fails(
      String call, int errno, int from, int count, When when, Effect effect, String reasons) {
    String times = count == ALWAYS ? "for ever" : count == 1 ? "once" : count + " times";
    return new DeviceFailure(
        (from == 1 ? call : call + " number " + from) + " fails " + times + " with errno " + errno,
        when,
        serve(call),
        effect,
        reasons,
        device -> device.fail(call, errno, from, count));
  }

  private static DeviceFailure slow(String call, When when) {
    return new DeviceFailure(
        "each " + call + " takes 30 ms",
        when,
        serve(call),
        Effect.GOES_ON,
        "",
        device -> device.delay(call, 30));
  }

  private static ServeSettings.Mode serve(String call) {
    return call.equals("ibv_reg_mr") ? ServeSettings.Mode.ODP : ServeSettings.Mode.COPY;
  }

  private static DeviceFailure limited(String device, String limit, long value) {
    return of(
        device, When.FROM_THE_START, Effect.GOES_ON, "", library -> library.limit(limit, value));
  }

  private static DeviceFailure loses(int event, int count, Effect effect, String reasons) {
    String times = count == 1 ? "" : count == ALWAYS ? " always" : " " + count + " times";
    return of(
        "the event " + CM_EVENTS[event] + " is lost" + times,
        When.UNCONNECTED,
        effect,
        reasons,
        device -> device.lose(event, count));
  }

  private static DeviceFailure raises(int event, Effect effect, String reasons) {
    String name = event == UNKNOWN_EVENT ? "with the unknown number " + event : EVENTS[event];
    return of(
        "the asynchronous event " + name,
        When.CONNECTED,
        effect,
        reasons,
        device -> device.raise(event, 1));
  }

  private static DeviceFailure raisesOnConnections(int event, Effect effect, String reasons) {
    return of(
        "the connection manager's event " + CM_EVENTS[event] + " of both ends",
        When.CONNECTED,
        effect,
        reasons,
        device -> device.raiseOnConnections(event));
  }

  private static DeviceFailure reads(String name, int failing) {
    return of(
        name,
        When.CONNECTED,
        Effect.READS_FAIL,
        "read-error lost-peer",
        device -> device.limit("failing_reads", failing));
  }

  static Stream<DeviceFailure> all() {
    return Stream.of(
            setUps(),
            SetUpFailures.all(),
            connections(),
            memory(),
            events(),
            EventFailures.all(),
            devices())
        .flatMap(List::stream);
  }

  private static List<DeviceFailure> setUps() {
    When when = When.UNCONNECTED;
    String failed = "connect-failed";
    return List.of(
        fails("rdma_create_id", ENOMEM, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_resolve_addr", ENODEV, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_resolve_addr", EADDRNOTAVAIL, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_resolve_route", EINVAL, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_resolve_route", ETIMEDOUT, 1, ALWAYS, when, Effect.GIVES_UP, failed),
        fails("rdma_connect", EINVAL, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_connect", ECONNREFUSED, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_connect", ETIMEDOUT, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_connect", EHOSTUNREACH, 1, ALWAYS, when, Effect.GIVES_UP, failed),
        fails("rdma_accept", EINVAL, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_accept", ECONNRESET, 1, ALWAYS, when, Effect.GIVES_UP, failed),
        fails("rdma_create_qp", EINVAL, 1, 1, when, Effect.GIVES_UP, failed),
        fails("rdma_create_qp", ENOMEM, 1, 1, when, Effect.GIVES_UP_FOR_NOW, "pool-empty"),
        fails("rdma_create_qp", ENOMEM, 2, 1, when, Effect.GIVES_UP, failed),
        fails("ibv_post_recv", EIO, 1, 1, when, Effect.GIVES_UP, failed + " lost-peer"),
        fails("ibv_post_recv", ENOMEM, 1, 1, when, Effect.GIVES_UP, failed + " lost-peer"),
        fails(
            "ibv_modify_qp",
            EINVAL,
            1,
            ALWAYS,
            when,
            Effect.STOPS_UNLESS_TRUSTED,
            failed + " lost-peer stopped"),
        fails("rdma_set_option", ENOSYS, 1, ALWAYS, when, Effect.GOES_ON, ""),
        fails("ibv_query_qp", EOPNOTSUPP, 1, 1, when, Effect.GOES_ON, ""),
        fails("rdma_get_cm_event", EAGAIN, 1, 3, when, Effect.GOES_ON, ""),
        loses(0, 1, Effect.WAITS_ON, failed),
        loses(2, 1, Effect.WAITS_ON, failed),
        loses(4, 1, Effect.WAITS_ON, failed),
        loses(9, 1, Effect.GOES_ON, ""),
        loses(9, 2, Effect.WAITS_ON, failed),
        of(
            "no neighbour answers twice",
            when,
            Effect.REPEATS,
            "",
            device -> device.limit("unanswered", 2)),
        of(
            "the peer's host rejects two requests because of a stale connection",
            when,
            Effect.REPEATS,
            "",
            device -> device.limit("stale", 2)),
        of(
            "the peer's host rejects each request because of a stale connection",
            when,
            Effect.GIVES_UP_FOR_NOW,
            failed,
            device -> device.limit("stale", Integer.MAX_VALUE)),
        slow("rdma_create_qp", when),
        slow("rdma_resolve_addr", when),
        slow("rdma_resolve_route", when),
        slow("rdma_connect", when),
        slow("rdma_accept", when),
        slow("ibv_modify_qp", when),
        slow("ibv_post_send", when),
        slow("ibv_post_recv", when),
        slow("ibv_poll_cq", when),
        slow("ibv_query_qp", when),
        slow("rdma_get_cm_event", when),
        slow("rdma_set_option", when),
        slow("ibv_create_cq", When.FROM_THE_START));
  }

  private static List<DeviceFailure> connections() {
    When when = When.CONNECTED;
    String lost = "lost-peer";
    return List.of(
        fails("ibv_post_send", EIO, 1, 1, when, Effect.RECONNECTS, lost),
        fails("ibv_post_send", EIO, 2, 1, when, Effect.RECONNECTS, lost),
        fails("ibv_post_send", EIO, 3, 1, when, Effect.RECONNECTS, lost),
        fails("ibv_post_send", EIO, 1, ALWAYS, when, Effect.RECONNECTS, lost + " connect-failed"),
        fails("ibv_post_send", ENOMEM, 1, 5, when, Effect.REPEATS, ""),
        fails("ibv_post_recv", EIO, 1, 1, when, Effect.RECONNECTS, lost),
        fails("ibv_post_recv", ENOMEM, 1, 1, when, Effect.RECONNECTS, lost),
        fails("ibv_get_cq_event", EAGAIN, 1, 3, when, Effect.GOES_ON, ""),
        fails("ibv_poll_cq", EIO, 1, ALWAYS, when, Effect.STOPS, "stopped"),
        fails("ibv_req_notify_cq", EIO, 1, ALWAYS, when, Effect.STOPS, "stopped"),
        reads("a READ completes with an error", 1),
        reads("all READs complete with an error", Integer.MAX_VALUE));
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
        fails("ibv_reg_mr", ENOMEM, 1, ALWAYS, When.CONNECTED, Effect.WAITS, "pool-empty"),
        slow("ibv_reg_mr", other));
  }

  private static List<DeviceFailure> events() {
    String lost = "lost-peer";
    return List.of(
        raises(0, Effect.STOPS, lost + " stopped connect-failed"),
        raises(1, Effect.RECONNECTS, lost),
        raises(2, Effect.RECONNECTS, lost),
        raises(3, Effect.RECONNECTS, lost),
        raises(5, Effect.GOES_ON, ""),
        raises(6, Effect.GOES_ON, ""),
        raises(7, Effect.GOES_ON, ""),
        raises(9, Effect.GOES_ON, ""),
        raises(11, Effect.GOES_ON, ""),
        raises(12, Effect.GOES_ON, ""),
        raises(13, Effect.GOES_ON, ""),
        raises(14, Effect.GOES_ON, ""),
        raises(15, Effect.GOES_ON, ""),
        raises(16, Effect.GOES_ON, ""),
        raises(17, Effect.GOES_ON, ""),
        raises(18, Effect.GOES_ON, ""),
        raises(19, Effect.GOES_ON, ""),
        raises(UNKNOWN_EVENT, Effect.GOES_ON, ""),
        raisesOnConnections(6, Effect.RECONNECTS, lost),
        raisesOnConnections(7, Effect.RECONNECTS, lost),
        raisesOnConnections(8, Effect.RECONNECTS, lost),
        raisesOnConnections(14, Effect.RECONNECTS, lost),
        raisesOnConnections(15, Effect.GOES_ON, ""));
  }

  private static List<DeviceFailure> devices() {
    return List.of(
        limited("the device answers one READ at once", "rd_atom", 1),
        limited("the device answers 255 READs at once", "rd_atom", 255),
        limited("the device answers 260 READs at once, of which librdmacm keeps 4", "rd_atom", 260),
        limited("the device has no inline data", "inline_data", 1),
        limited("the device takes one element in each request", "sge", 1));
  }
}
