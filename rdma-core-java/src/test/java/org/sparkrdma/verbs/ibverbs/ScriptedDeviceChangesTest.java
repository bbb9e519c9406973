// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** The device, its ports and its addresses fail, move or are removed while they are used. */
@Tag("slow")
class ScriptedDeviceChangesTest extends ScriptedDeviceFixture {
  private static final int ENOMEM = 12;
  private static final int EINVAL = 22;

  @TempDir private Path root;

  @ParameterizedTest(name = "the asynchronous event {1}")
  @CsvSource({
    "0, CQ_ERR, completion queue overrun",
    "1, QP_FATAL, queue pair broken",
    "2, QP_REQ_ERR, invalid request of the peer",
    "3, QP_ACCESS_ERR, access violation of the peer"
  })
  void shouldEndTheConnectionsThatAnEventBreaks(int event, String name, String reason)
      throws Exception {
    ScriptedExchange exchange = connect();

    library.raise(event, 0);

    assertThat(exchange.expect(ConnectionEvent.Type.DISCONNECTED).reason())
        .isEqualTo("the device reports: " + reason);
  }

  /** SQ_DRAINED, PORT_ACTIVE, LID_CHANGE, SRQ_ERR, QP_LAST_WQE_REACHED, GID_CHANGE, WQ_FATAL. */
  @ParameterizedTest(name = "the asynchronous event {0}")
  @ValueSource(ints = {5, 9, 11, 14, 16, 18, 19, 99})
  void shouldGoOnAfterAnEventThatBreaksNothing(int event) throws Exception {
    ScriptedExchange exchange = connect();

    library.raise(event, 1);

    exchange.transfer();
  }

  /** Work that was shown as flushed would free memory that the device may still write. */
  @Test
  void shouldKeepTheWorkOfAQueuePairThatTheDeviceDoesNotEnd() throws Exception {
    ScriptedExchange exchange = connect();
    library.limit("held_reads", 1);
    exchange.postRead();
    library.fail("rdma_disconnect", 5, 1, ScriptedLibrary.FOR_EVER);
    library.fail("ibv_modify_qp", 5, 1, ScriptedLibrary.FOR_EVER);

    exchange.initiator().disconnect();

    exchange.expect(ConnectionEvent.Type.DISCONNECTED);
    // Far longer than the flush time-out.
    exchange.turnFor(Duration.ofMillis(300));
    assertThat(exchange.failure()).isNull();
    exchange.initiator().close();
    assertThat(exchange.device.openResources().queuePairs()).as("of the responder").isEqualTo(1);
  }

  @Test
  void shouldGoOnWhenAnotherPortIsDown() throws Exception {
    ScriptedExchange exchange = connect();

    library.raise(ScriptedLibrary.PORT_ERR, 2);

    exchange.transfer();
  }

  @Test
  void shouldKeepTheScopeOfALinkLocalAddress() throws Exception {
    faulty = false;
    byte[] bytes = InetAddress.getByName("fe80::1234").getAddress();
    ScriptedExchange exchange = open();
    Connection initiator = exchange.resolve(Inet6Address.getByAddress(null, bytes, 7));

    exchange.expect(ConnectionEvent.Type.RESOLVED);

    // The device took it from the remote address.
    Inet6Address local = (Inet6Address) initiator.localAddress().getAddress();
    assertThat(local.getAddress()).isEqualTo(bytes);
    assertThat(local.getScopeId()).isEqualTo(7);
  }

  /**
   * The kernel reports such descriptors as ready for ever, so a thread that waits for them never
   * sleeps.
   */
  @Test
  void shouldSleepAlthoughTheDescriptorsOfARemovedDeviceAreReadyForEver() throws Exception {
    long sleepNs = TimeUnit.MILLISECONDS.toNanos(20);
    int turns = 25;
    ScriptedExchange exchange = connect();
    library.killDescriptors();

    assertThat(exchange.expect(ConnectionEvent.Type.DEVICE_REMOVED).connection()).isNull();

    exchange.poll();
    exchange.node.channel.await(0);
    long startNs = System.nanoTime();
    for (int i = 0; i < turns; i++) {
      exchange.poll();
      exchange.node.channel.await(sleepNs);
    }
    long elapsedNs = System.nanoTime() - startNs;
    assertThat(elapsedNs).isGreaterThan(turns * sleepNs / 2);
  }

  @Test
  void shouldLeaveOutAPortThatCannotBeQueried() throws Exception {
    library.limit("ports", 2);
    library.fail("ibv_query_port", ENOMEM, 2, 1);

    assertThat(listed().ports()).extracting(PortInfo::number).containsExactly(1);
  }

  /** Through the probe of devices, as an executor loads the engine. */
  @ParameterizedTest(name = "one of two devices {1}")
  @CsvSource({"2, fails each query with errno 5", "3, cannot be opened", "4, has no node GUID"})
  void shouldUseTheOtherOfTwoDevicesWhenOneFails(int second, String name) throws Exception {
    library.limit("second_device", second);

    try (VerbsEngine loaded = new ScriptedHost(root).withDeviceFiles().load(library)) {
      assertThat(loaded.devices())
          .extracting(DeviceInfo::name)
          .containsExactly(ScriptedEngine.DEVICE);
      try (ScriptedExchange exchange = new ScriptedExchange(loaded)) {
        exchange.run();
      }
    }
  }

  @Test
  void shouldUseADeviceWhoseExtendedAttributesCannotBeQueried() throws Exception {
    library.limit("odp", 1);
    library.fail("ibv_query_device_ex", EINVAL, 1, 1);

    assertThat(listed().can(Capability.ON_DEMAND_PAGING)).isFalse();
    assertThat(library.calls("ibv_query_device_ex")).isPositive();
  }

  @Test
  void shouldNotHoldADeviceThatFailsWhileItIsOpened() {
    library.fail("ibv_query_port", ENOMEM, 1, 1);

    assertThatThrownBy(engine::devices).hasMessageContaining("ibv_query_port failed: errno=12");
  }
}
