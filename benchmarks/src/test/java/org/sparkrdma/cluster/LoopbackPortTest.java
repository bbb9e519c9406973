// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LoopbackPortTest {
  @Test
  void shouldGiveAPortThatNoSocketGetsByChance() {
    assertThat(LoopbackPort.free()).isBetween(1_024, 32_767);
  }
}
