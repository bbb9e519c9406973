// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The loopback interface of this machine has the hardware address that the test says. */
class LinkAddressesTest {
  private static final String GID = "fe80000000000000506b4b0300a1b2c3";

  @TempDir private Path links;

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
    NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress());
    Path link = Files.createDirectory(links.resolve(loopback.getName()));
    Files.writeString(link.resolve("address"), hardware + "\n");

    List<InetAddress> addresses = LinkAddresses.of(links, HexFormat.of().parseHex(GID));

    if (found) {
      assertThat(addresses).contains(InetAddress.getLoopbackAddress());
    } else {
      assertThat(addresses).isEmpty();
    }
  }
}
