// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The time of the peer that counts for a block that needs several answers. */
class PeerTimeTest {
  private static BlockProgress begin(long nowNs) {
    return new BlockProgress(null, 0, false, nowNs);
  }

  @Test
  void shouldCountNoTimeBeforeTheBlockWasRequested() {
    BlockProgress block = begin(15);
    block.addPeerTime(0, 16);
    assertThat(block.peerNs()).isEqualTo(1);
  }

  @Test
  void shouldCountNoTimeTwiceWhenAnswersWereAwaitedTogether() {
    BlockProgress block = begin(0);
    block.addPeerTime(0, 10);
    block.addPeerTime(2, 14);
    block.addPeerTime(3, 13);
    assertThat(block.peerNs()).isEqualTo(14);
  }

  @Test
  void shouldNotCountTheTimeBetweenTwoAnswers() {
    BlockProgress block = begin(Long.MAX_VALUE - 5);
    block.addPeerTime(Long.MAX_VALUE - 5, Long.MAX_VALUE - 3);
    block.addPeerTime(Long.MIN_VALUE + 10, Long.MIN_VALUE + 11);
    assertThat(block.peerNs()).isEqualTo(3);
  }
}
