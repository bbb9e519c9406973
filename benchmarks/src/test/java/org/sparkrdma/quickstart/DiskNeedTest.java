// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.sparkrdma.launch.DataSize;

class DiskNeedTest {
  private static final DataSize ONE_GIB = DataSize.parse("1g");

  @Test
  void shouldNeedRoomForOneOutputWhenOutputsAreNotKept() {
    assertThat(DiskNeed.of(ONE_GIB, 3, false)).isEqualTo(DiskNeed.of(ONE_GIB, 1, false));
    assertThat(DiskNeed.of(ONE_GIB, 3, false).bytes()).isGreaterThan(4 * ONE_GIB.bytes());
  }

  @Test
  void shouldNeedRoomForAllOutputsWhenTheyAreKept() {
    assertThat(DiskNeed.of(ONE_GIB, 3, true).bytes())
        .isGreaterThan(DiskNeed.of(ONE_GIB, 1, true).bytes() + 2 * ONE_GIB.bytes());
  }
}
