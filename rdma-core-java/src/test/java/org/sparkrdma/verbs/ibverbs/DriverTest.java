// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

class DriverTest {
  /** PCI vendor id of Chelsio, whose cards are iWARP. */
  private static final int CHELSIO = 0x1425;

  @Test
  void shouldFenceSendsOfSoftIwarpOnly() {
    assertThat(Driver.of(0x626d74).sendFlags()).isEqualTo(VerbsLibrary.SEND_FENCE);
    assertThat(Driver.of(0xffffff).sendFlags()).isZero();
    assertThat(Driver.of(CHELSIO).sendFlags()).isZero();
  }

  @Test
  void shouldAssumeThatAnUnknownDriverFollowsItsSpecification() {
    Driver driver = Driver.of(CHELSIO);

    assertThat(driver).isEqualTo(Driver.OTHER);
    assertThat(driver.mayFailSilently()).isFalse();
    assertThat(driver.requiresElement()).isFalse();
  }
}
