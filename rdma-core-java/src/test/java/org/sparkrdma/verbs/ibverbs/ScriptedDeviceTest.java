// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.Transport;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * Calls that fail or are slow, low limits of the device, and events of connections that are lost or
 * late. A failure names the call and its error number.
 */
class ScriptedDeviceTest extends ScriptedDeviceFixture {
  private static final int EIO = 5;
  private static final int EINVAL = 22;
  private static final int EOPNOTSUPP = 95;

  // enum ibv_event_type
  private static final int DEVICE_FATAL = 8;

  // enum rdma_cm_event_type
  private static final int COMM_EST = 4;
  private static final int CONNECT_ERROR = 6;
  private static final int UNREACHABLE = 7;
  private static final int REJECTED = 8;

  private static final int SLOW_MS = 1_000;

  @Test
  void shouldTransferOnADeviceWithoutFailures() throws Exception {
    faulty = false;
    run();
  }

  /** The number of a call counts from the opening of the device. */
  @ParameterizedTest(name = "{0} number {1} fails with errno {2}")
  @CsvSource({
    "rdma_get_devices, 1, 19",
    "rdma_get_devices, 1, 12",
    "ibv_query_device, 1, 5",
    "ibv_query_device, 2, 5",
    "ibv_query_port, 1, 22",
    "ibv_create_comp_channel, 1, 24",
    "ibv_create_comp_channel, 1, 5",
    "ibv_create_cq, 2, 12",
    "ibv_create_cq, 2, 22",
    "rdma_create_event_channel, 1, 24",
    "rdma_create_event_channel, 1, 19",
    "ibv_alloc_pd, 2, 12",
    "ibv_alloc_pd, 2, 5",
    "ibv_reg_mr, 1, 12",
    "ibv_reg_mr, 1, 14",
    "ibv_reg_mr, 1, 95",
    "rdma_create_id, 1, 12",
    "rdma_create_id, 2, 19",
    "rdma_bind_addr, 1, 98",
    "rdma_bind_addr, 1, 99",
    "rdma_bind_addr, 1, 19",
    "rdma_listen, 1, 98",
    "rdma_listen, 1, 22",
    "rdma_resolve_addr, 1, 19",
    "rdma_resolve_addr, 1, 99",
    "rdma_resolve_route, 1, 22",
    "rdma_resolve_route, 1, 110",
    "rdma_create_qp, 1, 12",
    "rdma_create_qp, 1, 22",
    "rdma_create_qp, 2, 12",
    "rdma_set_option, 1, 22",
    "rdma_set_option, 2, 22",
    "rdma_connect, 1, 22",
    "rdma_connect, 1, 12",
    "rdma_accept, 1, 22",
    "rdma_accept, 1, 104",
    "ibv_modify_qp, 1, 5",
    "ibv_modify_qp, 2, 22",
    "ibv_post_send, 1, 5",
    "ibv_post_send, 1, 22",
    "ibv_post_send, 2, 19",
    "ibv_post_recv, 1, 5",
    "ibv_post_recv, 1, 22"
  })
  void shouldNameTheCallThatFails(String call, int number, int errno) {
    library.fail(call, errno, number, 1);

    assertThatThrownBy(this::run).hasMessageContaining(call + " failed: errno=" + errno + " (");
  }

  @ParameterizedTest(name = "{0} fails for ever with errno 5")
  @ValueSource(
      strings = {
        "rdma_create_qp",
        "rdma_accept",
        "ibv_modify_qp",
        "ibv_post_send",
        "ibv_post_recv",
        "rdma_resolve_route"
      })
  void shouldCloseEverythingOnADeviceThatFailsForEver(String call) {
    for (String also :
        new String[] {
          "rdma_disconnect",
          "rdma_reject",
          "rdma_destroy_qp",
          "ibv_dereg_mr",
          "ibv_dealloc_pd",
          "ibv_destroy_cq",
          "ibv_destroy_comp_channel"
        }) {
      library.fail(also, EIO, 1, ScriptedLibrary.FOR_EVER);
    }
    library.fail(call, EIO, 1, ScriptedLibrary.FOR_EVER);

    assertThatThrownBy(this::run).hasMessageContaining(call + " failed: errno=5 (");
  }

  @ParameterizedTest(name = "{0} from number {1} fails {2} times with errno {3}")
  @CsvSource({
    // An option that the kernel lacks.
    "rdma_set_option, 1, 99, 38",
    "rdma_set_option, 1, 99, 92",
    "rdma_set_option, 1, 99, 95",
    // Probes of the device.
    "_ibv_query_gid_table, 1, 9, 95",
    "ibv_alloc_pd, 1, 1, 12",
    "ibv_create_cq, 1, 1, 12",
    "ibv_create_qp, 1, 99, 22",
    // A full queue of the device.
    "ibv_post_send, 1, 3, 12",
    "ibv_post_recv, 1, 3, 12",
    // Events that come later.
    "rdma_get_cm_event, 1, 3, 11",
    "ibv_get_cq_event, 1, 3, 11",
    // The end of a connection or region that is gone.
    "rdma_disconnect, 1, 99, 22",
    "ibv_dereg_mr, 1, 99, 5",
    // The end of other objects; ibv_destroy_qp ends those of a probe.
    "ibv_destroy_qp, 1, 99, 5",
    "rdma_destroy_qp, 1, 99, 5",
    "ibv_destroy_cq, 1, 99, 5",
    "ibv_dealloc_pd, 1, 99, 5",
    "ibv_destroy_comp_channel, 1, 99, 16",
    "ibv_modify_qp, 3, 99, 5"
  })
  void shouldGoOnWithout(String call, int number, int count, int errno) throws Exception {
    library.fail(call, errno, number, count);

    run();
  }

  @ParameterizedTest(name = "rdma_connect fails with errno {0}")
  @CsvSource({"111, REJECTED", "110, UNREACHABLE", "113, UNREACHABLE", "101, UNREACHABLE"})
  void shouldReportAPeerThatCannotBeReachedAsAnEvent(int errno, String event) {
    library.fail("rdma_connect", errno, 1, 1);

    assertThatThrownBy(this::run)
        .hasMessageStartingWith(event + ": rdma_connect failed: errno=" + errno);
  }

  @ParameterizedTest(name = "{0} fails for ever with {1}")
  @CsvSource({"ibv_poll_cq, rc=-5", "ibv_req_notify_cq, rc=5"})
  void shouldEndTheOwnerOfAQueueThatCannotBePolled(String call, String detail) {
    library.fail(call, EIO, 3, ScriptedLibrary.FOR_EVER);

    assertThatThrownBy(this::run)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(call + " failed: " + detail);
  }

  @ParameterizedTest(name = "each {0} takes 30 ms")
  @ValueSource(
      strings = {
        "ibv_reg_mr",
        "ibv_create_cq",
        "rdma_create_qp",
        "rdma_resolve_addr",
        "rdma_resolve_route",
        "rdma_connect",
        "rdma_accept",
        "ibv_modify_qp",
        "ibv_post_send"
      })
  void shouldTransferOnASlowDevice(String call) throws Exception {
    library.delay(call, 30);

    run();
  }

  @ParameterizedTest(name = "the device answers {0} READs at once")
  @CsvSource({"1, 1", "16, 16", "255, 255", "260, 4"})
  void shouldRequestNoMoreReadsThanTheDeviceAnswers(long limit, int expected) throws Exception {
    library.limit("rd_atom", limit);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      assertThat(exchange.device.info().limits().maxReadsInFlight()).isEqualTo(expected);
      exchange.run();
    }
  }

  /** librdmacm keeps eight bits of the number. */
  @ParameterizedTest(name = "the device answers {0} READs at once, of which librdmacm keeps 0")
  @ValueSource(longs = {256, 512})
  void shouldRefuseADeviceOfWhoseReadsTheLibraryKeepsNone(long limit) {
    library.limit("rd_atom", limit);

    assertThatThrownBy(this::run)
        .hasMessage(
            "librdmacm allows no READ on this device, because it keeps eight bits of the limit:"
                + " device=scripted0 max_qp_rd_atom=%d max_qp_init_rd_atom=%d",
            limit, limit);
  }

  /** A driver's modify call returns 0 for it and changes nothing. */
  @ParameterizedTest(name = "a RoCE driver ({0}) keeps remote access that is removed")
  @CsvSource({"irdma, 0x8086", "bnxt_re, 0x14e4", "ocrdma, 0x10df"})
  void shouldNotClaimToChangeAccessOnADeviceThatKeepsIt(String driver, int vendor)
      throws Exception {
    library.limit("vendor", vendor);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      assertThat(exchange.device.info().transport()).isEqualTo(Transport.INFINIBAND);
      assertThat(exchange.device.info().can(Capability.QUEUE_PAIR_ACCESS)).isFalse();
      long before = library.calls("ibv_modify_qp");
      exchange.connect();

      assertThatThrownBy(() -> exchange.queuePair().setRemoteAccess(Set.of()))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("device=scripted0");

      assertThat(library.calls("ibv_modify_qp")).isEqualTo(before);
      exchange.transfer();
    }
  }

  @Test
  @DisplayName("the host of the peer rejects a request because of a stale connection")
  void shouldReportARejectionBecauseOfAStaleConnection() throws Exception {
    library.limit("stale", 1);

    assertThatThrownBy(this::run)
        .hasMessage("REJECTED_AS_STALE: refused: stale connection at the peer's host");

    run();
  }

  /** Such a READ tests a silent peer. */
  @ParameterizedTest(name = "a driver ({0}) reads into the first element of a READ of no bytes")
  @CsvSource({"irdma, 0x8086", "erdma, 0x1ded"})
  void shouldReadNoBytesAfterAReadOfSome(String driver, int vendor) throws Exception {
    library.limit("vendor", vendor);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      exchange.transfer();

      exchange.readNoBytes();

      exchange.transfer();
    }
  }

  /** The driver hns of Linux 5.8 does this. */
  @ParameterizedTest(name = "the driver refuses to change access with errno {0}")
  @ValueSource(ints = {EINVAL, EOPNOTSUPP})
  void shouldReportADeviceThatRefusesToChangeAccessOnce(int errno) throws Exception {
    library.fail("ibv_modify_qp", errno, 1, ScriptedLibrary.FOR_EVER);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      assertThatThrownBy(exchange::connect)
          .hasMessageContaining("ibv_modify_qp failed: errno=" + errno + " (");

      assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_DOWN).reason())
          .startsWith("the driver does not change the access of connected queue pairs")
          .contains(": device=scripted0: ibv_modify_qp failed: errno=" + errno + " (");
      exchange.expect(ConnectionEvent.Type.CONNECT_ERROR);
      exchange.expectNoEvent();
    }
    assertThat(engine.devices())
        .singleElement()
        .satisfies(device -> assertThat(device.can(Capability.QUEUE_PAIR_ACCESS)).isFalse());
  }

  @Test
  @DisplayName("a driver that is not known keeps remote access that is removed")
  void shouldReportADeviceThatKeepsAccessOnce() throws Exception {
    library.limit("kept_access", 1);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.remoteAccess = Set.of();
      assertThatThrownBy(exchange::connect)
          .hasMessageContaining("ibv_modify_qp has no effect: access=[] keptBits=4");

      assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_DOWN).reason())
          .startsWith("the driver does not change the access of connected queue pairs")
          .contains(": device=scripted0: ibv_modify_qp has no effect");
      exchange.expect(ConnectionEvent.Type.CONNECT_ERROR);
      exchange.expectNoEvent();
    }
    assertThat(engine.devices())
        .singleElement()
        .satisfies(device -> assertThat(device.can(Capability.QUEUE_PAIR_ACCESS)).isFalse());
  }

  /** A query is a system call, so it is not repeated for each connection. */
  @Test
  void shouldAskOnceWhetherAccessWasRemoved() throws Exception {
    faulty = false;
    long before = library.calls("ibv_query_qp");
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();
    }
    assertThat(library.calls("ibv_query_qp") - before).isEqualTo(1);
  }

  @Test
  @DisplayName("the access of a queue pair cannot be queried")
  void shouldTrustADeviceWhoseAccessCannotBeQueried() throws Exception {
    library.fail("ibv_query_qp", EOPNOTSUPP, 1, 1);
    run();
  }

  @Test
  @DisplayName("the first query of the access of a queue pair fails")
  void shouldCheckTheNextChangeOfAccessWhenTheFirstCouldNotBeQueried() throws Exception {
    library.limit("kept_access", 1);
    library.fail("ibv_query_qp", EIO, 1, 1);
    long before = library.calls("ibv_query_qp");
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.remoteAccess = Set.of();
      // At one end the query fails, and at the other it finds what was kept.
      assertThatThrownBy(exchange::connect)
          .hasMessageContaining("ibv_modify_qp has no effect: access=[] keptBits=4");
      assertThat(library.calls("ibv_query_qp") - before).isEqualTo(2);
    }
  }

  @Test
  @DisplayName("access is changed on a connection that has ended")
  void shouldNotBlameTheDriverWhenTheConnectionHasEnded() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      exchange.responder().disconnect();
      library.fail("ibv_modify_qp", EINVAL, 1, 1);

      assertThatThrownBy(() -> exchange.queuePair().setRemoteAccess(Set.of()))
          .hasMessageContaining("ibv_modify_qp failed: errno=22 (");

      exchange.expect(ConnectionEvent.Type.DISCONNECTED);
      exchange.expect(ConnectionEvent.Type.DISCONNECTED);
      exchange.expectNoEvent();
    }
    assertThat(engine.devices())
        .singleElement()
        .satisfies(device -> assertThat(device.can(Capability.QUEUE_PAIR_ACCESS)).isTrue());
  }

  @Test
  @DisplayName("the device has no inline data")
  void shouldTransferOnADeviceWithoutInlineData() throws Exception {
    library.limit("inline_data", 1);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      assertThat(exchange.device.info().limits().maxInlineBytes()).isZero();
      exchange.run();
    }
  }

  @Test
  @DisplayName("the device takes one element in each request")
  void shouldTransferOnADeviceWithOneElementPerRequest() throws Exception {
    library.limit("sge", 1);

    run();
  }

  @Test
  void shouldCreateACompletionQueueOnTheVectorThatIsNamed() throws Exception {
    faulty = false;
    try (Device device = engine.open(ScriptedEngine.DEVICE)) {
      assertThat(device.info().limits().completionVectors()).isEqualTo(4);
      device.createCompletionQueue(1, null);
      assertThat(library.newestVector()).isZero();
      device.createCompletionQueue(1, null, 3);
      assertThat(library.newestVector()).isEqualTo(3);
    }
  }

  /** The device charges what queues and regions need; each limit has room for those before. */
  @ParameterizedTest(name = "at most {0} bytes may be locked")
  @CsvSource({
    "1000, ibv_create_cq failed: errno=12",
    "4000, ibv_reg_mr failed: errno=12",
    "11000, rdma_create_qp failed: errno=12"
  })
  void shouldNameTheCallThatExceedsTheLimitOfLockedMemory(long bytes, String message) {
    library.limit("memlock", bytes);

    assertThatThrownBy(this::run).hasMessageContaining(message);
  }

  @ParameterizedTest(name = "event {0} of the connection manager is lost")
  @CsvSource({
    "0, RESOLVE_FAILED: no route to the address: no answer within the time-out",
    "2, RESOLVE_FAILED: no route to the address: no answer within the time-out",
    "4, UNREACHABLE: no answer within the connect time-out"
  })
  void shouldEndAnAttemptWhoseEventIsLost(int event, String message) {
    library.lose(event, 1);

    assertThatThrownBy(this::run).hasMessage(message);
  }

  @Test
  @DisplayName("the answer to a connection request is lost")
  void shouldEndAnAttemptWhoseAnswerIsLost() {
    int established = 9;
    library.lose(established, 2);

    assertThatThrownBy(this::run).hasMessage("UNREACHABLE: no answer within the connect time-out");
  }

  @Test
  @DisplayName("the responder gets no event that the connection is ready")
  void shouldTransferWhenTheResponderIsNotNotifiedThatTheConnectionIsReady() throws Exception {
    int established = 9;
    library.lose(established, 1);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.bothEndsNotified = false;
      exchange.run();
    }
  }

  @Test
  @DisplayName("the ready message of a connection is lost, and its peer sends")
  void shouldEstablishAConnectionWhoseReadyMessageIsLostWhenItsPeerSends() throws Exception {
    int established = 9;
    library.lose(established, 1);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.bothEndsNotified = false;
      exchange.connect();

      library.raise(COMM_EST, 0);

      assertThat(exchange.expect(ConnectionEvent.Type.ESTABLISHED).connection())
          .isSameAs(exchange.responder());
      exchange.transfer();
    }
  }

  @ParameterizedTest(name = "rdma_notify fails with errno {0}")
  @ValueSource(ints = {22, 107})
  void shouldTransferWhenTheKernelTakesNoNotice(int errno) throws Exception {
    int established = 9;
    library.lose(established, 1);
    library.fail("rdma_notify", errno, 1, ScriptedLibrary.FOR_EVER);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.bothEndsNotified = false;
      exchange.connect();

      library.raise(COMM_EST, 0);

      exchange.transfer();
    }
  }

  @Test
  @DisplayName("the kernel reports no end of a connection")
  void shouldReportTheEndOfAConnectionWithoutTheKernelsEvent() throws Exception {
    int disconnected = 10;
    library.lose(disconnected, 2);

    run();
  }

  /** Otherwise each page fault of a READ would cost 655 ms. */
  @Test
  void shouldRepeatSoonAfterAPageFaultOnADeviceThatPagesOnDemand() throws Exception {
    faulty = false;
    library.limit("odp", 1);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();

      assertThat(exchange.device.info().can(Capability.ON_DEMAND_PAGING)).isTrue();
      assertThat(library.minRnrTimer()).as("encoded 0.64 ms").isEqualTo(12);
    }
  }

  @Test
  @DisplayName("a device that pages on demand refuses the timer of page faults")
  void shouldTransferWithoutTheTimerOfPageFaults() throws Exception {
    library.limit("odp", 1);
    library.fail("ibv_modify_qp", EINVAL, 1, 1);
    run();
  }

  @Test
  void shouldLeaveTheTimerOfADeviceThatPinsPages() throws Exception {
    faulty = false;
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();

      assertThat(library.minRnrTimer()).isEqualTo(-1);
    }
  }

  /** A responder that ends before RTU arrives rejects a connection that the initiator has. */
  @ParameterizedTest(name = "event {0} of the connection manager")
  @ValueSource(ints = {CONNECT_ERROR, UNREACHABLE, REJECTED})
  void shouldEndAConnectionThatTheKernelReportsAsFailed(int event) throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raiseOnConnections(event);

      exchange.expect(ConnectionEvent.Type.DISCONNECTED);
    }
  }

  /**
   * Events of many connections come at once when a switch fails; each may cost calls of the kernel.
   */
  @Test
  @DisplayName("many events of the connection manager come at once")
  void shouldTakeAFewOfManyEventsInEachTurn() throws Exception {
    int timewaitExit = 15;
    int each = 20;
    String call = "rdma_get_cm_event";
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      exchange.expectNoEvent();
      for (int i = 0; i < each; i++) {
        library.raiseOnConnections(timewaitExit);
      }
      long before = library.calls(call);

      assertThat(exchange.manager.pollEvent()).isNull();

      assertThat(library.calls(call) - before).isEqualTo(IbverbsConnectionManager.EVENTS_PER_TURN);
      while (library.calls(call) - before < 2L * each) {
        exchange.turn();
      }
      exchange.transfer();
    }
  }

  /** librdmacm waits for the daemon ibacm in this call. */
  @Test
  @DisplayName("an event comes while a route is being resolved")
  void shouldTakeOtherEventsWhileARouteIsBeingResolved() throws Exception {
    library.delay("rdma_resolve_route", SLOW_MS);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      resolveUntilTheRouteIsAsked(exchange);

      library.raise(DEVICE_FATAL, 1);

      exchange.expect(ConnectionEvent.Type.DEVICE_DOWN);
      exchange.expect(ConnectionEvent.Type.RESOLVED);
    }
  }

  @Test
  @DisplayName("a route is resolved too late")
  void shouldEndAnAttemptWhoseRouteIsResolvedTooLate() throws Exception {
    library.delay("rdma_resolve_route", SLOW_MS);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.resolve(Duration.ofMillis(10));

      assertThatThrownBy(() -> exchange.expect(ConnectionEvent.Type.RESOLVED))
          .hasMessage("RESOLVE_FAILED: no route to the address: no answer within the time-out");
    }
  }

  @Test
  @DisplayName("the device is closed while a route is being resolved")
  void shouldCloseWhileARouteIsBeingResolved() throws Exception {
    library.delay("rdma_resolve_route", SLOW_MS / 2);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      resolveUntilTheRouteIsAsked(exchange);
    }
  }

  private static void resolveUntilTheRouteIsAsked(ScriptedExchange exchange) throws Exception {
    long before = library.calls("rdma_resolve_route");
    exchange.resolve(Duration.ofSeconds(10));
    while (library.calls("rdma_resolve_route") == before) {
      exchange.turn();
    }
  }
}
