// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

/** A server of the product whose disk reads less than 1 MB/s, in the time of the reader. */
class SlowServerDiskTest extends StoppedClockFixture {
  /** Time in which the disk reads a window of 1 MiB. */
  private static final Duration DISK_TIME = Duration.ofMillis(1_450);

  private static final int LARGE = 1;
  private static final int LARGE_BYTES = 24 << 20;
  private static final int SMALL = 2;
  private static final int SMALL_BYTES = 10_000;

  private final AtomicBoolean slow = new AtomicBoolean();

  private static List<BlockRange> block(int map) {
    return List.of(new BlockRange(0, map, 0, 1));
  }

  private CollectedBlocks fetch(TestExecutor server, int map) throws InterruptedException {
    CollectedBlocks collected = new CollectedBlocks(block(map));
    FetchHandler.fetch(reader.transport(), server.endpoint(), block(map), collected);
    return collected.await();
  }

  /** The peer's share of the memory holds two windows, so an answer has a part of the block. */
  @Test
  void shouldFetchByTcpALargeBlockOfASlowDiskAndReadOthersOfThatServer() throws Exception {
    startReader(new TestExecutor.Options(1));
    TestExecutor server =
        startServer(
            new TestExecutor.Options(PEER)
                .mode(ServeSettings.Mode.WINDOW)
                .pinned(7 << 19, 1 << 20)
                .onCall(
                    (object, method) -> {
                      if (method.equals("registerFile") && slow.get()) {
                        passForReader(DISK_TIME);
                      }
                    }));
    server.outputs().write(LARGE, new Random(7), LARGE_BYTES);
    server.outputs().write(SMALL, new Random(8), SMALL_BYTES);
    slow.set(true);
    CollectedBlocks large = fetch(server, LARGE);
    assertThat(large.failed(0)).isTrue();
    assertThat(large.reason(0)).isEqualTo(FallbackReason.PEER_OVERLOADED);
    assertThat(server.count(Counter.WINDOWS_REGISTERED)).as("in parts").isGreaterThan(4);

    slow.set(false);
    assertThat(fetch(server, SMALL).bytes(0))
        .isEqualTo(server.outputs().expected(block(SMALL).get(0)));
    assertThat(reader.count(Counter.PEERS_QUARANTINED)).isZero();
    assertThat(reader.count(Counter.CONNECTIONS_CLOSED)).isZero();
  }
}
