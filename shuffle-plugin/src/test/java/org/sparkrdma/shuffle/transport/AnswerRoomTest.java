// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AnswerRoomTest {
  private final AnswerRoom room = new AnswerRoom();

  @Test
  void shouldNotLimitTheFirstLocate() {
    room.onAnswer(500, 0);
    assertThat(room.maxBlocks()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void shouldAskForAsManyBlocksAsTheLastAnswerHadRoomFor() {
    room.onAnswer(500, 436);
    assertThat(room.maxBlocks()).isEqualTo(64);
    room.onAnswer(64, 64);
    assertThat(room.maxBlocks()).isEqualTo(1);
  }

  @Test
  void shouldAskForMoreOnlyAfterAFullRequestWithRoomForAll() {
    room.onAnswer(500, 436);
    room.onAnswer(63, 0);
    assertThat(room.maxBlocks()).isEqualTo(64);
    room.onAnswer(64, 0);
    assertThat(room.maxBlocks()).isEqualTo(64 + 64 / 8 + 8);
  }
}
