// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;

/** A reader whose JVM stops while it holds leases, or which dies, in virtual time. */
class FrozenReaderTest extends VirtualFixture {
  private static final int PARTITIONS = 64;
  private static final int BLOCK_BYTES = 256 << 10;

  private static VirtualFetch fetch(VirtualExecutor reader, VirtualExecutor server, int maps) {
    return new VirtualFetch(reader, server.endpoint(), 0, maps, () -> {});
  }

  @Test
  void shouldKeepMemoryFromOthersForSecondsAndNotUntilItsLeaseExpires() throws Exception {
    // Room for three windows of 16 MiB.
    String[] settings = {"pinned.max", "66m", "request.timeout", "30s"};
    VirtualExecutor server = fabric.start(PARTITIONS, BLOCK_BYTES, settings);
    VirtualExecutor frozen = fabric.start(PARTITIONS, BLOCK_BYTES, settings);
    VirtualExecutor other = fabric.start(PARTITIONS, BLOCK_BYTES, settings);
    fetch(frozen, server, 3);
    assertThat(fabric.runUntil(() -> server.count(Counter.LOCATES_SERVED) == 1, 1_000 * MS))
        .isTrue();
    frozen.pause();

    VirtualFetch early = fetch(other, server, 4);
    fabric.run(2_000 * MS);
    assertThat(early.read()).isEqualTo(3);
    assertThat(early.failures()).containsOnlyKeys(FallbackReason.PEER_BUSY);

    fabric.run(4_000 * MS);
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isEqualTo(1);
    // The peer's budget has to earn the time again that was waited for in vain.
    VirtualFetch later = early;
    for (int second = 6; second < 20 && !later.isRead(); second++) {
      later = fetch(other, server, 4);
      fabric.run(1_000 * MS);
    }
    assertThat(later.isRead()).isTrue();

    frozen.resume();
    VirtualFetch again = fetch(frozen, server, 3);
    fabric.run(20_000 * MS);
    assertThat(again.isAnswered()).isTrue();
    VirtualFetch last = fetch(frozen, server, 3);
    fabric.run(1_000 * MS);
    assertThat(last.isRead()).as("it connects again").isTrue();
  }

  @Test
  void shouldKeepItsLeasesWhereNobodyLacksMemory() throws Exception {
    VirtualExecutor server = fabric.start(PARTITIONS, BLOCK_BYTES);
    VirtualExecutor frozen = fabric.start(PARTITIONS, BLOCK_BYTES);
    VirtualExecutor other = fabric.start(PARTITIONS, BLOCK_BYTES);
    fetch(frozen, server, 3);
    assertThat(fabric.runUntil(() -> server.count(Counter.LOCATES_SERVED) == 1, 1_000 * MS))
        .isTrue();
    frozen.pause();
    for (int second = 0; second < 10; second++) {
      assertThat(fetch(other, server, 4).failures()).isEmpty();
      fabric.run(1_000 * MS);
    }
    assertThat(server.count(Counter.CONNECTIONS_CLOSED)).isZero();
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
