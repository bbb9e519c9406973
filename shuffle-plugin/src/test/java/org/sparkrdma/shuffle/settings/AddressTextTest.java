// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTextTest {
  private static final String KEY = "spark.shuffle.rdma.listen.address";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "auto",
        " 10.1.2.3 ",
        "10.1.0.0/16",
        "10.1.2.3/32",
        "0.0.0.0/0",
        "fd99:1::1",
        "fd99:1::/64",
        "::1/128",
        "::",
        "::ffff:10.1.2.3",
        "fe80::1%eth0",
        "eth0",
        "eth0.100",
        "eth0:1",
        "ib0.8001",
        "node-7.example",
        "no.such.host.invalid"
      })
  void shouldAllowAddressesNetworksAndNames(String text) {
    assertThat(ShuffleSettings.read(Map.of(KEY, text)).mistakes()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "999.1.1.1",
        "999.1.1.1/99",
        "10.1.0.0/33",
        "10.1.0.0/",
        "10.1.0.0/x",
        "10.1.0.0/-1",
        "10.1.0.0/16/16",
        "10.1/16",
        "/16",
        "fd99:1::/129",
        "fd99:1:::1",
        "1:2:3:4:5:6:7:8:9",
        "fd99::1::2",
        "node-7.example/24"
      })
  void shouldNameKeyValueAndWhatIsAllowedForAWrongOne(String text) {
    String message =
        "bad setting: key=%s value=%s allowed=auto, a literal address, an interface name or a network such as 10.1.0.0/16"
            .formatted(KEY, text);
    assertThat(ShuffleSettings.read(Map.of(KEY, text)).mistakes()).containsExactly(message);
    assertThatThrownBy(() -> ShuffleSettings.of(Map.of(KEY, text))).hasMessage(message);
  }
}
