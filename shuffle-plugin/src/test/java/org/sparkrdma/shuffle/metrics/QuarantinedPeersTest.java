// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QuarantinedPeersTest {
  private final QuarantinedPeers peers = new QuarantinedPeers();

  @Test
  void shouldListTheIdsUntilTheyAreRemoved() {
    assertThat(peers.shownIds()).isEmpty();
    peers.add("7");
    peers.add("12");
    peers.add("7");
    assertThat(peers.shownIds()).isEqualTo("12, 7");
    peers.remove("12");
    peers.remove("9");
    assertThat(peers.shownIds()).isEqualTo("7");
    peers.clear();
    assertThat(peers.shownIds()).isEmpty();
  }

  @Test
  void shouldListTheFirstOfMany() {
    for (int i = 0; i < 5_000; i++) {
      peers.add("e" + (10_000 + i));
    }
    assertThat(peers.shownIds())
        .startsWith("e10000, e10001, ")
        .endsWith("e10019 and 980 more")
        .hasSizeLessThan(500);
  }
}
