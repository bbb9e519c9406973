// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.faults.FaultRow;
import org.sparkrdma.faults.FaultRows;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/**
 * The ibverbs engine on a device that fails as the test says. In every case nothing hangs, the
 * failure names the call and its error number, the thread that waits sleeps when nothing is left to
 * do, the device has no object left afterwards, and the next exchange transfers the right bytes.
 */
@Tag("slow")
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ScriptedDeviceTest {
  private static final int EIO = 5;
  private static final int ENOMEM = 12;
  private static final int EINVAL = 22;

  // enum ibv_event_type
  private static final int DEVICE_FATAL = 8;
  private static final int PORT_ERR = 10;
  private static final int GID_CHANGE = 18;

  // enum rdma_cm_event_type
  private static final int COMM_EST = 4;
  private static final int CONNECT_ERROR = 6;
  private static final int UNREACHABLE = 7;
  private static final int REJECTED = 8;
  private static final int DEVICE_REMOVAL = 11;
  private static final int ADDR_CHANGE = 14;

  private static final int SLOW_MS = 1_000;

  /** From the beginning of a test to the end of the next exchange. */
  private static final int BOUND_SECONDS = 10;

  private static final FaultRows ROWS = new FaultRows("stub", "ibverbs", "scripted-device.json");

  private static ScriptedLibrary library;

  private final long beginNs = System.nanoTime();
  private final VerbsEngine engine = ScriptedEngine.over(library);
  private boolean faulty = true;

  @BeforeAll
  static void load() throws Exception {
    library = ScriptedLibrary.load();
  }

  @AfterAll
  static void writeRows() throws IOException {
    if (!ScriptedLibrary.isGiven()) {
      ROWS.write();
    }
  }

  @AfterEach
  void leaveNothingAndTransferAgain(TestInfo test) throws Exception {
    double idlePercent = ScriptedExchange.takeIdlePercent();
    engine.close();
    long hits = library.hits();
    library.reset();
    assertThat(hits > 0).as("the script took effect: hits=" + hits).isEqualTo(faulty);
    awaitNoObjects();
    boolean right;
    try (VerbsEngine next = ScriptedEngine.over(library);
        ScriptedExchange exchange = new ScriptedExchange(next)) {
      exchange.run();
      right = exchange.isReadRight();
    }
    awaitNoObjects();
    assertIdle(idlePercent);
    assertIdle(ScriptedExchange.takeIdlePercent());
    double seconds = (System.nanoTime() - beginNs) / 1e9;
    assertThat(right).as("bytes of the next exchange").isTrue();
    if (!ScriptedLibrary.isGiven()) {
      assertThat(seconds).isLessThan(BOUND_SECONDS);
    }
    if (faulty) {
      String outcome = FaultRow.words(test.getTestMethod().orElseThrow().getName());
      ROWS.add(
          new FaultRow(
              test.getDisplayName(),
              outcome.replaceFirst("^should ", "") + "; a new exchange transfers the right bytes",
              hits,
              right,
              seconds,
              BOUND_SECONDS,
              1,
              Map.of()));
    }
  }

  private static void assertIdle(double percent) {
    assertThat(percent)
        .as("CPU use when nothing was left to do, in percent")
        .isLessThan(ScriptedExchange.MAX_IDLE_PERCENT);
  }

  private static void awaitNoObjects() {
    // A route that is still being resolved keeps its identifier after close.
    long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (library.outstanding() != 0 && System.nanoTime() - deadlineNs < 0) {
      Thread.onSpinWait();
    }
    assertThat(library.outstanding()).as("objects left in the device").isZero();
  }

  private void run() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();
    }
  }

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
    for (String also : new String[] {"rdma_disconnect", "rdma_reject", "ibv_dereg_mr"}) {
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
  @CsvSource({"1, 1", "16, 16", "256, 255"})
  void shouldRequestNoMoreReadsThanTheDeviceAnswers(long limit, int expected) throws Exception {
    library.limit("rd_atom", limit);

    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      assertThat(exchange.device.info().limits().maxReadsInFlight()).isEqualTo(expected);
      exchange.run();
    }
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

  @ParameterizedTest(name = "asynchronous event {0}: {1}")
  @CsvSource({
    "0, completion queue overrun",
    "1, queue pair broken",
    "2, invalid request of the peer",
    "3, access violation of the peer"
  })
  void shouldEndTheConnectionsThatAnEventBreaks(int event, String reason) throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raise(event, 0);

      assertThat(exchange.expect(ConnectionEvent.Type.DISCONNECTED).reason())
          .isEqualTo("the device reports: " + reason);
    }
  }

  @ParameterizedTest(name = "asynchronous event {0}")
  @ValueSource(ints = {4, 5, 6, 7, 9, 11, 12, 13, 16, 17, 18})
  void shouldGoOnAfterAnEventThatBreaksNothing(int event) throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raise(event, 1);

      exchange.transfer();
    }
  }

  @Test
  @DisplayName("a port that is not used is down")
  void shouldGoOnWhenAnotherPortIsDown() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raise(PORT_ERR, 2);

      exchange.transfer();
    }
  }

  @ParameterizedTest(name = "asynchronous event {0}: {1}")
  @CsvSource({
    DEVICE_FATAL + ", the device failed: device=scripted0",
    PORT_ERR + ", a port of the device is down: device=scripted0 port=1"
  })
  void shouldReportThatTheDeviceIsDown(int event, String reason) throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raise(event, 1);

      ConnectionEvent down = exchange.expect(ConnectionEvent.Type.DEVICE_DOWN);
      assertThat(down.connection()).isNull();
      assertThat(down.reason()).isEqualTo(reason);
    }
  }

  @Test
  @DisplayName("the device of a listener is removed")
  void shouldNotifyAListenerThatTheDeviceIsRemoved() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raiseOnListeners(DEVICE_REMOVAL);

      ConnectionEvent removed = exchange.expect(ConnectionEvent.Type.DEVICE_REMOVED);
      assertThat(removed.connection()).isNull();
      assertThat(removed.reason()).isEqualTo("the device was removed: device=scripted0");
    }
  }

  @Test
  @DisplayName("the device of a connection is removed")
  void shouldNotifyAConnectionThatTheDeviceIsRemoved() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raiseOnConnections(DEVICE_REMOVAL);

      ConnectionEvent removed = exchange.expect(ConnectionEvent.Type.DEVICE_REMOVED);
      assertThat(removed.connection()).isNotNull();
    }
  }

  @Test
  @DisplayName("the listener's address moves to another link")
  void shouldReportThatTheAddressOfTheListenerMoved() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raiseOnListeners(ADDR_CHANGE);

      assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_DOWN).reason())
          .isEqualTo("the listener's address moved to another link: device=scripted0");
    }
  }

  /** The listener's address is not one of this machine, as after its removal. */
  @Test
  @DisplayName("the address of the only listener is removed")
  void shouldReportThatTheAddressOfTheListenerWasRemoved() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.listenAt(InetAddress.getByName("192.0.2.77"));

      library.raise(GID_CHANGE, 2);
      exchange.expectNoEvent();
      library.raise(GID_CHANGE, 1);

      expectRemovedAddress(exchange);
    }
  }

  @Test
  @DisplayName("the address of one of two listeners is removed")
  void shouldReportThatTheAddressOfOneOfTwoListenersWasRemoved() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.listenAt(InetAddress.getLoopbackAddress());
      library.raise(GID_CHANGE, 1);
      exchange.expectNoEvent();
      exchange.listenAt(InetAddress.getByName("192.0.2.77"));

      library.raise(GID_CHANGE, 1);

      expectRemovedAddress(exchange);
    }
  }

  private static void expectRemovedAddress(ScriptedExchange exchange) throws Exception {
    assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_DOWN).reason())
        .isEqualTo("an address of the listeners was removed: device=scripted0");
  }

  @Test
  void shouldKeepTheScopeOfALinkLocalAddress() throws Exception {
    faulty = false;
    byte[] bytes = InetAddress.getByName("fe80::1234").getAddress();
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      Connection initiator = exchange.resolve(Inet6Address.getByAddress(null, bytes, 7));

      exchange.expect(ConnectionEvent.Type.RESOLVED);

      // The device took it from the remote address.
      Inet6Address local = (Inet6Address) initiator.localAddress().getAddress();
      assertThat(local.getAddress()).isEqualTo(bytes);
      assertThat(local.getScopeId()).isEqualTo(7);
    }
  }

  /** Connections need IP addresses: AF_IB, which would connect GIDs, is not used. */
  @Test
  void shouldReportAnInfiniBandPortWithoutIpoibAsOneWithoutAddresses() throws Exception {
    faulty = false;
    library.limit("infiniband", 1);
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      PortInfo port = exchange.device.info().ports().get(0);

      assertThat(port.gids()).extracting(Gid::type).containsExactly(GidType.INFINIBAND);
      assertThat(port.addresses()).isEmpty();
    }
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

  @Test
  @DisplayName("a connection's address moves to another link")
  void shouldEndAConnectionWhoseAddressMoved() throws Exception {
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();

      library.raiseOnConnections(ADDR_CHANGE);

      assertThat(exchange.expect(ConnectionEvent.Type.DISCONNECTED).reason())
          .isEqualTo("the address moved to another link");
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
   * The kernel reports such descriptors as ready for ever, so a thread that waits for them never
   * sleeps.
   */
  @Test
  @DisplayName("the descriptors of a removed device are ready for ever")
  void shouldSleepAlthoughTheDescriptorsOfARemovedDeviceAreReadyForEver() throws Exception {
    long sleepNs = TimeUnit.MILLISECONDS.toNanos(20);
    int turns = 25;
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
      library.killDescriptors();

      assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_REMOVED).connection()).isNull();

      exchange.poll();
      exchange.channel.await(0);
      var threads = ManagementFactory.getThreadMXBean();
      long startNs = System.nanoTime();
      long startCpuNs = threads.getCurrentThreadCpuTime();
      for (int i = 0; i < turns; i++) {
        exchange.poll();
        exchange.channel.await(sleepNs);
      }
      long cpuNs = threads.getCurrentThreadCpuTime() - startCpuNs;
      long elapsedNs = System.nanoTime() - startNs;
      System.out.printf(
          "CPU after device removal: %.1f %% of one core%n", 100.0 * cpuNs / elapsedNs);
      assertThat(elapsedNs).isGreaterThan(turns * sleepNs / 2);
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

  @Test
  @DisplayName("the kernel misses the neighbour's answer twice")
  void shouldResolveAnAddressAgainWhileThereIsTime() throws Exception {
    library.limit("unanswered", 2);
    long before = library.calls("rdma_resolve_addr");
    try (ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.connect();
    }
    assertThat(library.calls("rdma_resolve_addr") - before).isEqualTo(3);
  }

  @Test
  @DisplayName("one of two ports cannot be queried")
  void shouldLeaveOutAPortThatCannotBeQueried() throws Exception {
    library.limit("ports", 2);
    library.fail("ibv_query_port", ENOMEM, 2, 1);

    assertThat(engine.devices())
        .singleElement()
        .satisfies(
            device -> assertThat(device.ports()).extracting(PortInfo::number).containsExactly(1));
  }

  @Test
  @DisplayName("the device fails while it is opened")
  void shouldNotHoldADeviceThatFailsWhileItIsOpened() {
    library.fail("ibv_query_port", ENOMEM, 1, 1);

    assertThatThrownBy(engine::devices).hasMessageContaining("ibv_query_port failed: errno=12");
  }
}
