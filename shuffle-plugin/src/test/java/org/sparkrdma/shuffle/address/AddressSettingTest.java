// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressSettingTest {
  @ParameterizedTest
  @CsvSource({
    "10.1.2.3, 10.1.2.3, true",
    "10.1.2.3, 10.1.2.4, false",
    "10.1.0.0/16, 10.1.200.4, true",
    "10.1.0.0/16, 10.2.0.1, false",
    "10.1.128.0/17, 10.1.127.255, false",
    "0.0.0.0/0, 192.168.0.1, true",
    "0.0.0.0/0, fd00::1, false",
    "fd00:1::/32, fd00:1:2::9, true",
    "fd00:1::/32, fd00:2::9, false",
    "fd00::7, fd00::7, true",
  })
  void shouldTakeTheAddressesThatAreMeant(String rule, String address, boolean taken)
      throws IOException {
    assertThat(AddressSetting.of(rule).test(InetAddress.getByName(address))).isEqualTo(taken);
  }
}
