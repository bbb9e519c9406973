// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LeasesToReleaseTest {
  private static final long MAX_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long NOW_NS = Long.MAX_VALUE - 1;

  private final LeasesToRelease leases = new LeasesToRelease();

  @Test
  void shouldKeepTheOrderOfTheEnds() {
    leases.add(7);
    leases.add(3);
    assertThat(leases.contains(3)).isTrue();
    assertThat(leases.take()).isEqualTo(7);
    assertThat(leases.contains(7)).isFalse();
    assertThat(leases.take()).isEqualTo(3);
    assertThat(leases.isEmpty()).isTrue();
  }

  @Test
  void shouldWaitForALocateThatFollowsButNotForLong() {
    leases.add(7);
    leases.noteWait(NOW_NS);
    leases.noteWait(NOW_NS + 1);
    assertThat(leases.areDue(false, NOW_NS + 1)).isTrue();
    assertThat(leases.areDue(true, NOW_NS + MAX_WAIT_NS - 1)).isFalse();
    assertThat(leases.areDue(true, NOW_NS + MAX_WAIT_NS)).isTrue();
  }

  @Test
  void shouldWaitAnewAfterTheyWereReleased() {
    leases.add(7);
    leases.noteWait(NOW_NS);
    leases.take();
    leases.noteWait(NOW_NS + 1);
    assertThat(leases.areDue(false, NOW_NS + MAX_WAIT_NS)).isFalse();
    leases.add(8);
    leases.noteWait(NOW_NS + MAX_WAIT_NS);
    assertThat(leases.areDue(true, NOW_NS + MAX_WAIT_NS)).isFalse();
  }
}
