// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.pinned.MemoryShares;

/** More readers wait for a disk that hangs than there are buffers for answers, in virtual time. */
class HungDiskStageTest extends VirtualFixture {
  private static final int READERS = 3 * MemoryShares.MAX_ANSWERS;

  private VirtualExecutor server;

  /** Starts readers whose connections are established; one of them has read a block. */
  private void start() throws Exception {
    server = fabric.start(16 << 10, "request.timeout", "10s", "connections.max", "1000");
    for (int i = 0; i < READERS; i++) {
      fabric.start(16 << 10, "request.timeout", "10s");
    }
    for (int i = 1; i <= READERS; i++) {
      fetch(i, 1);
      fabric.run(10 * MS);
    }
    server.hangDisk();
  }

  private VirtualFetch fetch(int reader, int maps) {
    return new VirtualFetch(fabric.executors().get(reader), server.endpoint(), 0, maps, () -> {});
  }

  @Test
  void shouldAnswerBlocksThatAreCachedWhileManyReadersWaitForTheDisk() throws Exception {
    start();
    for (int i = 2; i <= READERS; i++) {
      fetch(i, 3);
    }
    fabric.run(100 * MS);
    VirtualFetch cached = fetch(1, 1);
    fabric.run(10 * MS);
    assertThat(cached.isRead()).isTrue();
  }

  /** The time of each LOCATE runs from its arrival, not from that at which it gets a buffer. */
  @Test
  void shouldAnswerEveryReaderAtHalfOfItsLimitAndQuarantineNoPeer() throws Exception {
    start();
    List<VirtualFetch> fetches = new ArrayList<>();
    for (int i = 1; i <= READERS; i++) {
      fetches.add(fetch(i, 3));
    }
    fabric.run(600 * MS);
    assertThat(fetches).allMatch(VirtualFetch::isAnswered);
    for (VirtualFetch fetch : fetches) {
      assertThat(fetch.read()).as("what is cached").isEqualTo(1);
      assertThat(fetch.failures()).containsOnlyKeys(FallbackReason.PEER_OVERLOADED);
    }
    for (VirtualExecutor executor : fabric.executors()) {
      assertThat(executor.count(Counter.PEERS_QUARANTINED)).isZero();
      assertThat(executor.count(Counter.CONNECTIONS_CLOSED)).isZero();
    }
  }
}
