// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelDriverTest {
  @ParameterizedTest
  @CsvSource({
    "0x8086, true",
    "0x1ded, true",
    "0x1414, true",
    "0, true",
    "0xffffff, false",
    "0x15b3, false",
    "0x14e4, true",
    "0x10df, true",
    "0x1425, false"
  })
  void shouldNotTrustADriverThatKeepsAccess(int vendor, boolean keeps) {
    assertThat(KernelDriver.ofVendor(vendor).has(KernelDriver.Quirk.KEEPS_ACCESS)).isEqualTo(keeps);
  }

  /**
   * A driver that only echoes what it was asked for passes every query. Firmware of another brand
   * has its own OUI; a driver that is known to keep access stays so.
   */
  @ParameterizedTest
  @CsvSource({
    "0xffffff, '', true",
    "0x1425, '', false",
    "0x19e5, '', false",
    "0x1dd8, '', false",
    "0x8086, '', false",
    "0x626d74, '', false",
    "0, '', false",
    "0x1708, mlx4_core, true",
    "0x119f, mlx5_core, true",
    "0x15b3, mlx5_core, true",
    "0x02c9, '', true",
    "0x1708, '', false",
    "0x19e5, hns3, false",
    "0x8086, mlx5_core, false"
  })
  void shouldTrustOnlyDriversThatWereSeenToWithholdAccess(
      int vendor, String kernelName, boolean trusted) {
    assertThat(KernelDriver.of(vendor, kernelName).withholdsAccess()).isEqualTo(trusted);
  }
}
