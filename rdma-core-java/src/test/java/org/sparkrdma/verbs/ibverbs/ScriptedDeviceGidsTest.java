// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.verbs.QueuePairState;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.cm.Connection;
import org.sparkrdma.verbs.cm.ConnectionEvent;
import org.sparkrdma.verbs.cm.ConnectionParameters;
import org.sparkrdma.verbs.cm.GidSocketAddress;
import org.sparkrdma.verbs.device.Capability;
import org.sparkrdma.verbs.engine.NetworkLinks;

/** Connections by GID, without IP addresses: the family AF_IB of the connection manager. */
class ScriptedDeviceGidsTest extends ScriptedDeviceFixture {
  private static final int FLOW_CLASS_SHIFT = 20;

  private final InetAddress gid = at("fe80::2:c903:29:1");

  private static InetAddress at(String text) {
    try {
      return InetAddress.getByName(text);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(text, e);
    }
  }

  @BeforeEach
  void scriptInfinibandPort() throws Exception {
    library.limit("infiniband", 1);
    ScriptedEngine.host().withGid(gid.getAddress(), "");
  }

  private ScriptedExchange openByGid() throws Exception {
    ScriptedExchange exchange = open();
    exchange.listenAt = new GidSocketAddress(gid, 0);
    exchange.source = new GidSocketAddress(gid, 0);
    return exchange;
  }

  private void assertGid(InetSocketAddress address) {
    assertThat(address).isInstanceOf(GidSocketAddress.class);
    assertThat(address.getAddress()).isEqualTo(gid);
  }

  @Test
  void shouldTransferBetweenGids() throws Exception {
    faulty = false;
    ScriptedExchange exchange = openByGid();
    assertThat(exchange.device.info().can(Capability.GID_ADDRESSES)).isTrue();

    exchange.connect();

    Connection initiator = exchange.initiator();
    assertGid(initiator.localAddress());
    assertGid(initiator.remoteAddress());
    assertThat(initiator.remoteAddress().getPort()).isPositive();
    assertGid(exchange.responder().localAddress());
    assertGid(exchange.responder().remoteAddress());
    exchange.transfer();
    exchange.disconnect();
    assertThat(exchange.queuePair().state()).isEqualTo(QueuePairState.ERROR);
  }

  /** The peer's kernel takes other first bytes for its own header with IP addresses. */
  @Test
  void shouldSendPrivateDataBehindBytesThatAreNoHeaderWithIpAddresses() throws Exception {
    faulty = false;
    ScriptedExchange exchange = openByGid();

    exchange.connect();

    // The first bytes of ScriptedExchange's data are such a header, of another version.
    assertThat(exchange.requestData).startsWith(1, 2, 3);
    assertThat(Arrays.copyOfRange(exchange.requestData, 3, exchange.requestData.length))
        .containsOnly(0);
  }

  @Test
  void shouldSendAsMuchPrivateDataAsWithIpAddresses() throws Exception {
    faulty = false;
    ScriptedExchange exchange = openByGid();
    byte[] data = new byte[DeviceFacts.MAX_PRIVATE_DATA_BYTES];
    Arrays.fill(data, (byte) 0x64);
    exchange.sentData = data;

    exchange.connect();

    assertThat(Arrays.copyOf(exchange.requestData, data.length)).isEqualTo(data);
  }

  /** The kernel does not use the option with which IP addresses get it. */
  @Test
  void shouldGiveThePathItsTrafficClassInTheSourceAddress() throws Exception {
    faulty = false;
    ScriptedExchange exchange = openByGid();
    exchange.trafficClass = 104;

    exchange.resolve(Duration.ofSeconds(1));

    exchange.expect(ConnectionEvent.Type.RESOLVED);
    assertThat(library.flow()).isEqualTo(104L << FLOW_CLASS_SHIFT);
  }

  @Test
  @DisplayName("the kernel has no AF_IB")
  void shouldNameTheMissingFamilyAndItsRemedy() throws Exception {
    library.limit("without_af_ib", 1);
    ScriptedExchange exchange = openByGid();

    assertThatThrownBy(() -> exchange.listenAt(new GidSocketAddress(gid, 0)))
        .hasMessageContaining("rdma_bind_addr failed: errno=22 (")
        .hasMessageContaining("the kernel or librdmacm may lack AF_IB")
        .hasMessageContaining("IPoIB");
  }

  @Test
  @DisplayName("a request comes from a GID of zeros")
  void shouldRejectARequestFromWhatIsNoGidOfAPort() throws Exception {
    library.limit("odd_gid", 1);
    ScriptedExchange exchange = openByGid();
    Connection initiator = exchange.resolve(Duration.ofSeconds(1));
    exchange.expect(ConnectionEvent.Type.RESOLVED);
    initiator.createQueuePair(exchange.device.allocateProtectionDomain(), exchange.settings());

    initiator.connect(ConnectionParameters.of(new byte[0]));

    assertThat(exchange.expect(ConnectionEvent.Type.REJECTED).reason())
        .isEqualTo("refused by the peer");
    exchange.expectNoEvent();
  }

  /** The kernel does not deliver requests by GID there. */
  @Test
  void shouldNotConnectByGidInAnotherNetworkNamespace(@TempDir Path root) throws Exception {
    faulty = false;
    new ScriptedHost(root).withGid(gid.getAddress(), "");
    NetworkLinks links = NetworkLinks.ofSystem(root);
    assertThat(links.inFirstNamespace()).isFalse();
    try (VerbsEngine container = ScriptedEngine.over(library, links)) {
      assertThat(container.devices())
          .singleElement()
          .satisfies(device -> assertThat(device.can(Capability.GID_ADDRESSES)).isFalse());
    }

    Path file = root.resolve("proc/sys/net/core/netdev_max_backlog");
    Files.createDirectories(file.getParent());
    Files.createFile(file);

    assertThat(NetworkLinks.ofSystem(root).inFirstNamespace()).isTrue();
  }

  @Test
  void shouldRefuseAGidOnADeviceThatIsNotInfiniband() throws Exception {
    faulty = false;
    library.limit("infiniband", 0);
    ScriptedExchange exchange = openByGid();
    assertThat(exchange.device.info().can(Capability.GID_ADDRESSES)).isFalse();
    long before = library.calls("rdma_create_id");

    assertThatThrownBy(() -> exchange.resolve(Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address=gid fe80:");

    assertThat(library.calls("rdma_create_id")).isEqualTo(before);
  }
}
