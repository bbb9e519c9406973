// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockFetch;
import org.sparkrdma.shuffle.fetch.BlockProgress;
import org.sparkrdma.shuffle.fetch.BlockRange;

class WantedBlocksTest {
  private final List<BlockProgress> blocks =
      new BlockFetch(
              null,
              IntStream.range(0, 5).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList(),
              null,
              new HoldingHandler(5),
              done -> {})
          .blocks();
  private final WantedBlocks wanted = new WantedBlocks();

  private BlockProgress block(int index) {
    return blocks.get(index);
  }

  @Test
  void shouldPutBlocksToLocateAgainBeforeOthersInTheirOrder() {
    wanted.add(block(0));
    wanted.add(List.of(block(1), block(2)));
    wanted.addFirst(List.of(block(3), block(4)));
    assertThat(wanted.takeQueued())
        .containsExactly(block(3), block(4), block(0), block(1), block(2));
    assertThat(wanted.areQueued()).isFalse();
    assertThat(wanted.isEmpty()).isTrue();
  }

  @Test
  void shouldQueueBlocksThatHaveGotMemoryBeforeOthers() {
    wanted.add(block(0));
    wanted.onWait();
    wanted.onWait();
    wanted.onMemory(block(1));
    wanted.onMemory(block(2));
    assertThat(wanted.queue()).containsExactly(block(0));
    wanted.queueReady();
    wanted.queueReady();
    assertThat(wanted.queue()).containsExactly(block(1), block(2), block(0));
  }

  @Test
  void shouldNotBeEmptyWhileABlockWaitsForMemory() {
    wanted.onWait();
    wanted.onWait();
    wanted.onNoMemory();
    assertThat(wanted.areQueued()).isFalse();
    assertThat(wanted.isEmpty()).isFalse();
    wanted.onMemory(block(0));
    assertThat(wanted.isEmpty()).isFalse();
    wanted.queueReady();
    assertThat(wanted.takeQueued()).containsExactly(block(0));
    assertThat(wanted.isEmpty()).isTrue();
  }

  @Test
  void shouldGiveUpAllBlocksAndTheWaitForMemory() {
    wanted.add(block(0));
    wanted.onWait();
    wanted.onWait();
    wanted.onMemory(block(1));
    assertThat(wanted.takeAll()).containsExactly(block(0), block(1));
    assertThat(wanted.isEmpty()).isTrue();
  }
}
