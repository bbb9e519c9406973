// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The order of Spark's {@code Utils.findLocalInetAddress}; the JDK lists the last interface first.
 */
class SparkHostTest {
  /** IPv4 is preferred on the same interface only; link-local addresses alone do not count. */
  @ParameterizedTest
  @CsvSource({
    "10.2.0.5/10.1.0.5/127.0.0.1, 10.1.0.5",
    "fd00::2 10.2.0.5//127.0.0.1 ::1, 10.2.0.5",
    "10.2.0.5/fe80::1 fd00::1 10.1.0.5/127.0.0.1, 10.1.0.5",
    "10.2.0.5/fd00::1/127.0.0.1, fd00:0:0:0:0:0:0:1",
    "10.2.0.5/fe80::1 169.254.0.9/127.0.0.1, 10.2.0.5",
    "fe80::1/127.0.0.1 ::1, none"
  })
  void shouldTakeTheInterfaceWithTheLowestIndexAsSparkDoes(String interfaces, String expected)
      throws Exception {
    assertThat(
            SparkHost.ofInterfaces(addresses(interfaces.split("/", -1)))
                .map(InetAddress::getHostAddress)
                .orElse("none"))
        .isEqualTo(expected);
  }

  @Test
  void shouldTakeTheAddressThatSparkIsGiven() throws Exception {
    assertThat(SparkHost.find(Map.of("SPARK_LOCAL_IP", "10.1.2.3")).getHostAddress())
        .isEqualTo("10.1.2.3");
  }

  private static List<List<InetAddress>> addresses(String... interfaces)
      throws UnknownHostException {
    List<List<InetAddress>> all = new ArrayList<>();
    for (String one : interfaces) {
      List<InetAddress> addresses = new ArrayList<>();
      for (String address : one.isEmpty() ? new String[0] : one.split(" ", -1)) {
        addresses.add(InetAddress.getByName(address));
      }
      all.add(addresses);
    }
    return all;
  }
}
