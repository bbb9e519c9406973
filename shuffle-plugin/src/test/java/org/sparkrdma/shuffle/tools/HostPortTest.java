// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

class HostPortTest {
  private final CommandSpec spec = new CommandLine(CommandSpec.create()).getCommandSpec();

  @ParameterizedTest
  @CsvSource({
    "host1, host1, 7474",
    "host1:7, host1, 7",
    "10.9.1.1:7, 10.9.1.1, 7",
    "[::1], ::1, 7474",
    "[fd99::1%eth0]:7, fd99::1%eth0, 7"
  })
  void shouldParseNamesAndAddressesAndWriteThemAgain(String text, String host, int port) {
    HostPort parsed = HostPort.parse(spec, text);
    assertThat(parsed).isEqualTo(new HostPort(host, port));
    assertThat(parsed.text()).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "[::1", "::1", "::1]", "host1:", "host1:0", "host1:65536", "[::1]:x", "a b"})
  void shouldRefuseOtherTexts(String text) {
    assertThatThrownBy(() -> HostPort.parse(spec, text)).isInstanceOf(ParameterException.class);
  }
}
