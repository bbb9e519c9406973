// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ScriptedHost;

/** The only address of each executor's RoCE port is a link-local IPv6 address. */
class LinkLocalTest extends ScriptedHosts {
  /** The engine on a host whose network interface with the address has this number. */
  private VerbsEngine engine(int number, int link) throws Exception {
    String address = "fe80::" + number;
    ScriptedHost host =
        new ScriptedHost(newFolder("host-" + number))
            .withGid(InetAddress.getByName(address).getAddress(), "eth0");
    for (int other = 1; other < link; other++) {
      // As a VLAN of the interface has it, too.
      host.withLink("eth0." + other, "02:00:00:00:00:0" + number, address);
    }
    return host.withLink("eth0", "02:00:00:00:00:0" + number, address).engine(library);
  }

  private TestExecutor executor(int number, int link) throws Exception {
    VerbsEngine engine = engine(number, link);
    List<NetworkAddress> addresses =
        choose(number, engine, Optional.of("fe80::/10"), 64).addresses();
    assertThat(addresses)
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.address()).isEqualTo(InetAddress.getByName("fe80::" + number));
              assertThat(((Inet6Address) found.address()).getScopeId()).isEqualTo(link);
            });
    return startWithBlocks(number, engine, addresses, options -> options);
  }

  /** The peer's scope means nothing here, so the directory does not have it. */
  @Test
  @DisplayName("ports have link-local addresses only, which listen.address selects")
  void shouldConnectWithTheScopeOfItsOwnInterface() throws Exception {
    TestExecutor reader = executor(5, 3);
    TestExecutor server = executor(7, 2);

    CollectedBlocks blocks = fetch(reader, server, BLOCKS).await();

    assertThat(blocks.reasons()).isEmpty();
    assertThat(blocks.bytes(0)).isEqualTo(server.outputs().expected(BLOCKS.get(0)));
  }
}
