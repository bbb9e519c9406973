// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.TransportType;

class DriverTest {
  /** PCI vendor id of Chelsio, whose cards are iWARP. */
  private static final int CHELSIO = 0x1425;

  @Test
  void shouldAssumeThatAnUnknownDriverFollowsItsSpecification() {
    Driver driver = Driver.ofVendor(CHELSIO);

    assertThat(driver).isEqualTo(Driver.OTHER);
    assertThat(driver.has(Driver.Quirk.COMPLETES_SENDS_BEFORE_READS)).isFalse();
    assertThat(driver.has(Driver.Quirk.IGNORES_TRAFFIC_CLASS)).isFalse();
    assertThat(driver.has(Driver.Quirk.FAILS_SILENTLY)).isFalse();
    assertThat(driver.elementCount(new WorkRequest(1).read(1, 0, 0))).isZero();
  }

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

  @Test
  void shouldTreatAnyIwarpDeviceAsSoftIwarpWhereTheVendorIsUnknown() {
    assertThat(Driver.ofUnknownVendor(TransportType.IWARP)).isEqualTo(Driver.SIW);
    assertThat(Driver.ofUnknownVendor(TransportType.INFINIBAND)).isEqualTo(Driver.OTHER);
  }

  @Test
  void shouldGiveSoftIwarpAnElementWhereARequestWritesIntoMemory() {
    WorkRequest request = new WorkRequest(1);

    assertThat(Driver.SIW.elementCount(request.read(1, 0, 0))).isEqualTo(1);
    assertThat(Driver.SIW.elementCount(request.receive(1))).isEqualTo(1);
    assertThat(Driver.SIW.elementCount(request.send(1))).isZero();
    assertThat(Driver.SIW.elementCount(request.write(1, 0, 0))).isZero();
    assertThat(Driver.RXE.elementCount(request.read(1, 0, 0))).isZero();
  }
}
