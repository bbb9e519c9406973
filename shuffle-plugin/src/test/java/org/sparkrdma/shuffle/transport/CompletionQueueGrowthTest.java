// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;

/** An executor whose connections use several completion queues; see {@link CompletionQueues}. */
@Timeout(120)
class CompletionQueueGrowthTest {
  private static final int SERVERS = 3;

  /** Room for one connection of {@link TestExecutor}. */
  private static final int ONE_CONNECTION = 85;

  private static final int BLOCK_BYTES = 300_000;

  @TempDir private Path directory;
  private final AtomicLong laterNs = new AtomicLong();
  private final List<TestExecutor> executors = new ArrayList<>();

  @AfterEach
  void closeAllWithoutLeaks() {
    executors.forEach(TestExecutor::close);
    executors.clear();
  }

  private TestExecutor start() throws Exception {
    int incarnation = executors.size() + 1;
    Path own = Files.createDirectory(directory.resolve("executor-" + incarnation));
    TestExecutor executor =
        new TestExecutor(
            own,
            new TestExecutor.Options(incarnation)
                .maxCompletionQueueDepth(ONE_CONNECTION)
                .idleTimeout(Duration.ofMinutes(1))
                .nanoClock(() -> System.nanoTime() + laterNs.get()));
    executors.add(executor);
    return executor;
  }

  @Test
  void shouldReadOverConnectionsWithQueuesOfTheirOwnAgainAndAgain() throws Exception {
    TestExecutor reader = start();
    List<CollectedBlocks> fetches = new ArrayList<>();
    List<BlockRange> blocks = List.of(new BlockRange(0, 0, 0, 1), new BlockRange(0, 0, 1, 2));
    for (int i = 0; i < SERVERS; i++) {
      start().outputs().write(0, new Random(i), BLOCK_BYTES, BLOCK_BYTES);
    }
    for (int round = 1; round <= 2; round++) {
      fetches.clear();
      for (TestExecutor server : executors.subList(1, executors.size())) {
        CollectedBlocks collected = new CollectedBlocks(blocks);
        FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
        fetches.add(collected);
      }
      for (CollectedBlocks fetch : fetches) {
        fetch.await();
        assertThat(fetch.bytes(0)).hasSize(BLOCK_BYTES);
        assertThat(fetch.bytes(1)).hasSize(BLOCK_BYTES);
      }
      assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo((long) round * SERVERS);
      // The release of leases is the last use of a connection.
      while (reader.count(Counter.CONNECTIONS_CLOSED) < (long) round * SERVERS) {
        laterNs.addAndGet(Duration.ofMinutes(2).toNanos());
        LockSupport.parkNanos(300_000_000);
      }
    }
  }
}
