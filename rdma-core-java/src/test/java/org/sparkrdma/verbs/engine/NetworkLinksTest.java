// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.device.Gid;
import org.sparkrdma.verbs.device.GidType;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;

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

  private List<InetAddress> addresses(GidType type, InetAddress gid, String link) {
    return host.links().addresses(List.of(new SystemGid(new Gid(0, type, gid), link)));
  }

  private List<InetAddress> ofInfiniband() throws Exception {
    InetAddress gid = InetAddress.getByAddress(HexFormat.of().parseHex(GID));
    return addresses(GidType.INFINIBAND, gid, "");
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

    assertThat(ofInfiniband()).isEqualTo(found ? List.of(at("10.1.0.5")) : List.of());
  }

  @Test
  void shouldGiveLinkLocalAddressesAloneTheScopeOfTheirInterface() throws Exception {
    host.withLink("lo", "00:00:00:00:00:00", "127.0.0.1")
        .withLink(
            "ib0",
            "80:00:02:08:" + HexFormat.ofDelimiter(":").formatHex(HexFormat.of().parseHex(GID)),
            "fe80::5",
            "fd00::5");

    List<InetAddress> addresses = ofInfiniband();

    assertThat(addresses).containsExactly(at("fd00::5"), at("fe80::5"));
    assertThat(addresses)
        .extracting(address -> ((Inet6Address) address).getScopeId())
        .containsExactly(0, 2);
  }

  /** A VLAN interface has the hardware address, so the link-local address, of its parent. */
  @ParameterizedTest
  @CsvSource({"eth0, 1", "eth0.5, 2", "eth1, -1", "'', -1"})
  void shouldTakeTheLinkLocalAddressOfTheInterfaceOfAGid(String link, int scope) throws Exception {
    host.withLink("eth0", "", "fe80::5")
        .withLink("eth0.5", "", "fe80::5")
        .withLink("eth1", "", "fe80::6");

    List<InetAddress> found = addresses(GidType.ROCE_V2, at("fe80::5"), link);

    assertThat(found.isEmpty() ? -1 : ((Inet6Address) found.get(0)).getScopeId()).isEqualTo(scope);
  }

  @ParameterizedTest
  @CsvSource({"10.1.0.5, true", "fd00::5, true", "10.1.0.6, false"})
  void shouldFindTheGidsThatAreAddressesOfTheHostOnAnyInterface(String gid, boolean found)
      throws Exception {
    host.withLink("eth0", "", "10.1.0.5", "fd00::5");

    assertThat(addresses(GidType.ROCE_V2, at(gid), "eth7"))
        .isEqualTo(found ? List.of(at(gid)) : List.of());
  }
}
