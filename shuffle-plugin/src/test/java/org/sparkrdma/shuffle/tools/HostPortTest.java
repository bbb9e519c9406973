// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {
  @ParameterizedTest
  @CsvSource({
    "host1, host1, 7474",
    "host1:7, host1, 7",
    "10.9.1.1:7, 10.9.1.1, 7",
    "[::1], ::1, 7474",
    "[fd99::1%eth0]:7, fd99::1%eth0, 7",
    "::1, ::1, 7474",
    "1:2:3:4:5:6:7:8, 1:2:3:4:5:6:7:8, 7474",
    "fe80::1%eth0, fe80::1%eth0, 7474",
    "::ffff:10.9.1.1, ::ffff:10.9.1.1, 7474"
  })
  void shouldParseNamesAndAddresses(String text, String host, int port) {
    assertThat(HostPort.parse(text, 7_474)).contains(new HostPort(host, port));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[::1",
        "::1]",
        "host1:",
        "host1:0",
        "host1:65536",
        "[::1]:x",
        "a b",
        "a:b:c",
        "::g"
      })
  void shouldRefuseOtherTexts(String text) {
    assertThat(HostPort.parse(text, 7_474)).isEmpty();
  }
}
