// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverTest {
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
    assertThat(Driver.ofVendor(vendor).has(Driver.Quirk.KEEPS_ACCESS)).isEqualTo(keeps);
  }
}
