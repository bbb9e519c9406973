// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.fetch.FetchRequest;

class WantedBlocksTest {
  private final FetchRequest request =
      FetchHandler.request(
          null,
          IntStream.range(0, 5).mapToObj(map -> new BlockRange(0, map, 0, 1)).toList(),
          new HoldingHandler(5));
  private final List<BlockProgress> blocks =
      IntStream.range(0, 5).mapToObj(i -> new BlockProgress(request, i, false, 0)).toList();
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
    wanted.onWait(block(1));
    wanted.onWait(block(2));
    wanted.onMemory(block(1));
    wanted.onMemory(block(2));
    assertThat(wanted.queue()).containsExactly(block(0));
    wanted.queueReady();
    wanted.queueReady();
    assertThat(wanted.queue()).containsExactly(block(1), block(2), block(0));
  }

  @Test
  void shouldNotBeEmptyWhileABlockWaitsForMemory() {
    wanted.onWait(block(0));
    wanted.onWait(block(1));
    wanted.onNoMemory(block(1));
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
    wanted.onWait(block(1));
    wanted.onWait(block(2));
    wanted.onMemory(block(1));
    assertThat(wanted.takeAll()).containsExactly(block(0), block(1), block(2));
    assertThat(wanted.isEmpty()).isTrue();
  }
}
