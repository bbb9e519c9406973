// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NetworkLinksTest {
  private static final String GID = "fe80000000000000506b4b0300a1b2c3";

  @TempDir private Path root;
  private ScriptedHost host;

  @BeforeEach
  void createHost() {
    host = new ScriptedHost(root);
  }

  private static InetAddress at(String address) throws Exception {
    return InetAddress.getByName(address);
  }

  private List<InetAddress> ofPort() throws Exception {
    return host.links().ofPort(HexFormat.of().parseHex(GID));
  }

  @ParameterizedTest
  @CsvSource({
    // IPoIB: flags, number of a queue pair, GID; a partition has another queue pair.
    "80:00:02:08:fe:80:00:00:00:00:00:00:50:6b:4b:03:00:a1:b2:c3, true",
    "80:00:0a:10:fe:80:00:00:00:00:00:00:50:6b:4b:03:00:a1:b2:c3, true",
    "80:00:02:08:fe:80:00:00:00:00:00:00:50:6b:4b:03:00:a1:b2:c4, false",
    // iWARP: the GID begins with the hardware address.
    "fe:80:00:00:00:00, true",
    "fe:80:00:00:00:01, false",
    "'', false",
    "no address, false"
  })
  void shouldNameTheAddressesOfTheInterfacesThatBelongToAGid(String hardware, boolean found)
      throws Exception {
    host.withLink("ib0", hardware, "10.1.0.5");

    assertThat(ofPort()).isEqualTo(found ? List.of(at("10.1.0.5")) : List.of());
  }

  @Test
  void shouldGiveLinkLocalAddressesAloneTheScopeOfTheirInterface() throws Exception {
    host.withLink("lo", "00:00:00:00:00:00", "127.0.0.1")
        .withLink(
            "ib0",
            "80:00:02:08:" + HexFormat.ofDelimiter(":").formatHex(HexFormat.of().parseHex(GID)),
            "fe80::5",
            "fd00::5");

    List<InetAddress> addresses = ofPort();

    assertThat(addresses).containsExactly(at("fe80::5"), at("fd00::5"));
    assertThat(addresses)
        .extracting(address -> ((Inet6Address) address).getScopeId())
        .containsExactly(2, 0);
  }

  /** A VLAN interface has the hardware address, so the link-local address, of its parent. */
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "3, -1", "0, -1"})
  void shouldTakeTheLinkLocalAddressOfTheInterfaceOfAGid(int link, int scope) throws Exception {
    host.withLink("eth0", "", "fe80::5")
        .withLink("eth0.5", "", "fe80::5")
        .withLink("eth1", "", "fe80::6");

    InetAddress address = NetworkLinks.ofGid(host.links().all(), at("fe80::5"), link);

    assertThat(address == null ? -1 : ((Inet6Address) address).getScopeId()).isEqualTo(scope);
  }

  @ParameterizedTest
  @CsvSource({"10.1.0.5, true", "fd00::5, true", "10.1.0.6, false"})
  void shouldFindTheGidsThatAreAddressesOfTheHostOnAnyInterface(String gid, boolean found)
      throws Exception {
    host.withLink("eth0", "", "10.1.0.5", "fd00::5");

    InetAddress address = NetworkLinks.ofGid(host.links().all(), at(gid), 7);

    assertThat(address).isEqualTo(found ? at(gid) : null);
  }

  @Test
  void shouldListTheInterfacesOfTheSystem() throws Exception {
    NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());

    assertThat(NetworkLinks.ofSystem(Path.of("/")).all())
        .anySatisfy(
            link -> {
              assertThat(link.index()).isEqualTo(loopback.getIndex());
              assertThat(link.name()).isEqualTo(loopback.getName());
              assertThat(link.addresses()).contains(InetAddress.getLoopbackAddress());
            });
  }
}
