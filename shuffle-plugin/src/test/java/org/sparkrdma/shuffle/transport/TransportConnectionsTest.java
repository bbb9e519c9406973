// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

/** Connections of executors: used in both directions, refused, idle, or without room. */
class TransportConnectionsTest extends TransportFixture {
  private final List<BlockRange> blocks = List.of(block(1, 0, 1));
  private TestExecutor reader;
  private TestExecutor server;

  @BeforeEach
  void startBoth() throws Exception {
    // Windows have a price, whose measurement takes memory for some milliseconds.
    reader = start(new TestExecutor.Options(1).mode(ServeSettings.Mode.COPY));
    server = start(new TestExecutor.Options(2).mode(ServeSettings.Mode.COPY));
    server.outputs().write(1, random, 1000);
  }

  /** The server rejects, and the reader tries again. */
  @Test
  void shouldReadOnceThePeerHasMemoryForAConnection() throws Exception {
    PinnedBudget.Grant all = takeAll(server);
    CollectedBlocks open = reader.fetch(server.endpoint(), blocks);
    awaitCount(server, Counter.CONNECTIONS_REFUSED, 2);
    all.close();
    assertRight(server, blocks, open.await());
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  @Test
  void shouldNotQuarantineAPeerWithoutRoomForAConnectionHere() throws Exception {
    PinnedBudget.Grant all = takeAll(reader);
    for (int i = 0; i < 3; i++) {
      assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    }
    all.close();
    assertRight(server, blocks, fetch(reader, server, blocks));
  }

  /** Executors end while others keep connections to them that are idle. */
  @Test
  void shouldNotQuarantineAPeerThatEndsWhileNothingIsReadFromIt() throws Exception {
    assertRight(server, blocks, fetch(reader, server, blocks));
    server.transport().close();
    awaitCount(reader, Counter.CONNECTIONS_CLOSED, 1);
    assertThat(fetch(reader, server, blocks).reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
  }

  private static PinnedBudget.Grant takeAll(TestExecutor executor) {
    return executor.budget().tryGrant(executor.budget().availableBytes()).orElseThrow();
  }

  private static void awaitCount(TestExecutor executor, Counter counter, long atLeast) {
    for (int i = 0; i < 100_000 && executor.count(counter) < atLeast; i++) {
      LockSupport.parkNanos(100_000);
    }
    assertThat(executor.count(counter)).isGreaterThanOrEqualTo(atLeast);
  }
}
