// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.pinned.MemoryShares;

/** Readers that die without a word, in virtual time. */
class DeadReadersTest extends VirtualFixture {
  private static final int PARTITIONS = 64;
  private static final int BLOCK_BYTES = 256 << 10;

  private static VirtualFetch fetch(VirtualExecutor reader, VirtualExecutor server, int maps) {
    return new VirtualFetch(reader, server.endpoint(), 0, maps, () -> {});
  }

  /** Each holds the buffers of two answers until its queue pair fails, after seconds. */
  @Test
  void shouldNotKeepAnotherReaderWaitingWhenManyHaveDied() throws Exception {
    VirtualExecutor server = fabric.start(PARTITIONS, BLOCK_BYTES);
    List<VirtualExecutor> dead = new ArrayList<>();
    for (int i = 0; i <= MemoryShares.MAX_ANSWERS / 2; i++) {
      dead.add(fabric.start(PARTITIONS, BLOCK_BYTES));
      assertReads(dead.get(i), server.endpoint());
    }
    VirtualExecutor other = fabric.start(PARTITIONS, BLOCK_BYTES);
    assertReads(other, server.endpoint());
    fabric.run(50 * MS);
    fabric.delayMessages((from, type) -> from == server ? VirtualFabric.LOST : 0);
    for (VirtualExecutor reader : dead) {
      fetch(reader, server, 1);
      fetch(reader, server, 1);
    }
    fabric.run(300 * MS);
    fabric.delayMessages((from, type) -> 0);

    VirtualFetch fetch = fetch(other, server, 1);
    fabric.run(100 * MS);
    assertThat(fetch.isRead()).isTrue();
  }
}
