// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;

/** InfiniBand ports with GIDs and, unless a test says so, without an IP address. */
class GidAddressesTest extends ScriptedHosts {
  private static final String NO_COMMON_SUBNET =
      "reason=connect-failed no common subnet, and no common family of addresses that a router may"
          + " join; open blocks use TCP";

  @BeforeEach
  void scriptInfinibandPort() {
    library.limit("infiniband", 1);
  }

  /**
   * Starts an executor as on a host of its own, at the address that the device's choice finds.
   *
   * @param prefix of its GID
   * @param ip addresses of the port's IPoIB interface
   */
  private TestExecutor executor(int number, String prefix, String... ip) throws Exception {
    byte[] gid = InetAddress.getByName(prefix + "2:c903:29:" + number).getAddress();
    ScriptedHost host = host(number).withGid(gid, "");
    if (ip.length > 0) {
      host.withLink("ib0", "80:00:02:08:" + HexFormat.ofDelimiter(":").formatHex(gid), ip);
    }
    VerbsEngine engine = host.engine(library);
    DeviceChoice choice = choose(number, engine, Optional.empty(), 16);
    return startWithBlocks(number, engine, choice.addresses(), options -> options);
  }

  private static void assertRead(TestExecutor reader, TestExecutor server) throws Exception {
    CollectedBlocks blocks = fetch(reader, server, BLOCKS).await();
    assertThat(blocks.reasons()).isEmpty();
    assertThat(blocks.bytes(0)).isEqualTo(server.outputs().expected(BLOCKS.get(0)));
  }

  /** The block is answered without an attempt to connect. */
  private void assertByTcpWithTheReason(TestExecutor reader, TestExecutor server) throws Exception {
    long before = library.calls("rdma_create_id");
    try (CapturedLog log = CapturedLog.fromInfo(Peers.class.getName())) {
      CollectedBlocks blocks = fetch(reader, server, BLOCKS).await();
      assertThat(blocks.reasons()).isEqualTo(Map.of("connect-failed", 1L));
      assertThat(log.awaitWarnings(1)).singleElement().asString().contains(NO_COMMON_SUBNET);
    }
    assertThat(library.calls("rdma_create_id")).isEqualTo(before);
  }

  @ParameterizedTest(name = "ports have no IP address, and GIDs of one subnet that begin with {0}")
  @ValueSource(strings = {"fe80::", "fec0:0:0:7:"})
  void shouldConnectByGid(String prefix) throws Exception {
    TestExecutor reader = executor(5, prefix);
    TestExecutor server = executor(7, prefix);

    assertThat(published(server)).singleElement().asString().startsWith("gid fe").endsWith(":7/64");
    assertRead(reader, server);
    assertRead(server, reader);
  }

  @Test
  @DisplayName("two ports have no IP address, and GIDs with different subnet prefixes")
  void shouldNotConnectToAGidOfAnotherSubnet() throws Exception {
    TestExecutor reader = executor(5, "fe80::");
    TestExecutor server = executor(7, "fec0:0:0:7:");

    assertByTcpWithTheReason(reader, server);
    assertByTcpWithTheReason(server, reader);
  }
}
