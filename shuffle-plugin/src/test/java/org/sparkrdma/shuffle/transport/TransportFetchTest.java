// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Test;
import org.sparkrdma.leak.WatchedEngine;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.verbs.VerbsEngine;

/**
 * Blocks of one LOCATED are delivered while later ones are read, and fail alone; connections use
 * several completion queues, see {@link CompletionQueues}; memory stays while a task holds it.
 */
class TransportFetchTest extends TransportFixture {
  private static final int BLOCKS = 8;

  /** A READ fills a chunk of 64 KiB. */
  private static final int READS_PER_BLOCK = 4;

  /** Number of the first READ of the last block. */
  private static final int LAST_BLOCK = (BLOCKS - 1) * READS_PER_BLOCK + 1;

  private static final int SERVERS = 3;

  /** Room for one connection of {@link TestExecutor}. */
  private static final int ONE_CONNECTION = 85;

  private final List<BlockRange> blocks = new ArrayList<>();
  private final AtomicLong laterNs = new AtomicLong();

  /** Begins to fetch blocks of the second executor. */
  private CollectedBlocks beginFetch(TestExecutor.Options options) throws Exception {
    TestExecutor reader = start(options);
    TestExecutor server = start(new TestExecutor.Options(2).lease(Duration.ofHours(1)));
    for (int map = 0; map < BLOCKS; map++) {
      server.outputs().write(map, random, READS_PER_BLOCK << 16);
      blocks.add(block(map, 0, 1));
    }
    return reader.fetch(server.endpoint(), blocks);
  }

  private void assertFirstAreRight(CollectedBlocks collected) {
    assertRight(executors.get(1), blocks.subList(0, BLOCKS - 1), collected);
  }

  @Test
  void shouldDeliverTheBlocksBeforeAReadThatHangs() throws Exception {
    CollectedBlocks collected =
        beginFetch(
            new TestExecutor.Options(1)
                .faults("hang@" + LAST_BLOCK)
                .requestTimeout(Duration.ofMinutes(10)));
    collected.awaitFirst(BLOCKS - 1);
    assertFirstAreRight(collected);
    assertThat(collected.answered()).isEqualTo(BLOCKS - 1);
    assertThat(executors.get(0).count(Counter.RDMA_READS_POSTED))
        .isEqualTo(BLOCKS * READS_PER_BLOCK);
  }

  @Test
  void shouldNotBlameBlocksThatWereReadBeforeOneThatFails() throws Exception {
    CollectedBlocks collected =
        beginFetch(new TestExecutor.Options(1).faults("read-error@" + LAST_BLOCK)).await();
    assertFirstAreRight(collected);
    assertThat(collected.reason(BLOCKS - 1)).isEqualTo(FallbackReason.READ_ERROR);
  }

  @Test
  void shouldReadBlocksOfEndedExecutorsFromTheirStandInBesideItsOwn() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor standIn = start(2);
    int[] lengths = new int[200];
    Arrays.setAll(lengths, i -> 50 + i);
    for (int i = 0; i < lengths.length; i++) {
      blocks.add(block(3, i, i + 1));
    }
    standIn.outputs().write(3, random, lengths);
    List<TestOutputs> all = new ArrayList<>(List.of(standIn.outputs()));
    List<CollectedBlocks> fetched =
        new ArrayList<>(List.of(reader.fetch(standIn.endpoint(), blocks)));
    for (String ended : List.of("50", "51")) {
      TestOutputs outputs = new TestOutputs(Files.createDirectory(directory.resolve(ended)), null);
      outputs.write(3, random, lengths);
      outputs.forgetSums(3);
      standIn.outputs().standInFor(ended, outputs);
      CollectedBlocks collected = new CollectedBlocks(blocks, reader);
      FetchHandler.fetchOf(ended, reader.transport(), standIn.endpoint(), blocks, collected);
      all.add(outputs);
      fetched.add(collected);
    }
    for (int owner = 0; owner < 3; owner++) {
      CollectedBlocks answered = fetched.get(owner).await();
      for (int i = 0; i < lengths.length; i++) {
        assertThat(answered.bytes(i)).isEqualTo(all.get(owner).expected(blocks.get(i)));
      }
    }
    long bytes = Arrays.stream(lengths).sum();
    assertThat(reader.count(Counter.ENDED_BYTES_READ)).isEqualTo(2 * bytes);
    assertThat(reader.count(Counter.RDMA_BYTES_READ)).isEqualTo(3 * bytes);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(3L * lengths.length);
  }

  private TestExecutor startWithSmallQueues(long incarnation) throws Exception {
    return start(
        new TestExecutor.Options(incarnation)
            .maxCompletionQueueDepth(ONE_CONNECTION)
            .idleTimeout(Duration.ofMinutes(1))
            .nanoClock(() -> System.nanoTime() + laterNs.get()));
  }

  /** An engine may need a thread for a queue. */
  @Test
  void shouldReadFromTheFirstPeerWhileTheSystemRefusesThreadsForQueues() throws Exception {
    AtomicBoolean refuses = new AtomicBoolean();
    VerbsEngine engine =
        WatchedEngine.watch(
            TestEngine.load(Map.of()),
            (object, method) -> {
              if (refuses.get() && method.equals("createCompletionQueue")) {
                throw new OutOfMemoryError("unable to create native thread");
              }
            });
    TestExecutor reader =
        start(new TestExecutor.Options(1).on(engine).maxCompletionQueueDepth(ONE_CONNECTION));
    blocks.add(block(0, 0, 1));
    for (int i = 0; i < 2; i++) {
      start(new TestExecutor.Options(2 + i)).outputs().write(0, random, 300_000);
    }
    TestExecutor first = executors.get(1);
    TestExecutor second = executors.get(2);
    assertRight(first, blocks, reader.fetch(first.endpoint(), blocks).await());
    refuses.set(true);
    assertThat(reader.fetch(second.endpoint(), blocks).await().reasons())
        .containsOnlyKeys("pool-empty");
    assertRight(first, blocks, reader.fetch(first.endpoint(), blocks).await());
    refuses.set(false);
    assertRight(second, blocks, reader.fetch(second.endpoint(), blocks).await());
  }

  @Test
  void shouldReadOverConnectionsWithQueuesOfTheirOwnAgainAndAgain() throws Exception {
    TestExecutor reader = startWithSmallQueues(1);
    blocks.addAll(List.of(block(0, 0, 1), block(0, 1, 2)));
    for (int i = 0; i < SERVERS; i++) {
      startWithSmallQueues(2 + i).outputs().write(0, random, 300_000, 300_000);
    }
    List<TestExecutor> servers = executors.subList(1, executors.size());
    for (int round = 1; round <= 2; round++) {
      List<CollectedBlocks> fetches = new ArrayList<>();
      for (TestExecutor server : servers) {
        fetches.add(reader.fetch(server.endpoint(), blocks));
      }
      for (int i = 0; i < SERVERS; i++) {
        assertRight(servers.get(i), blocks, fetches.get(i).await());
      }
      assertThat(reader.count(Counter.CONNECTIONS_ESTABLISHED)).isEqualTo((long) round * SERVERS);
      // The release of leases is the last use of a connection.
      while (reader.count(Counter.CONNECTIONS_CLOSED) < (long) round * SERVERS) {
        laterNs.addAndGet(Duration.ofMinutes(2).toNanos());
        LockSupport.parkNanos(300_000_000);
      }
    }
  }

  @Test
  void shouldAnswerEveryBlockOfAFailedReadOfNeighbours() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).faults("read-error@2"));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 1000, 2000, 3000, 4000);
    blocks.addAll(List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 3), block(1, 3, 4)));
    // The server knows the index then, and has all blocks in a window or in one chunk.
    assertRight(server, blocks.subList(0, 1), fetch(reader, server, blocks.subList(0, 1)));
    CollectedBlocks failed = fetch(reader, server, blocks);
    for (int i = 0; i < blocks.size(); i++) {
      assertThat(failed.reason(i)).isEqualTo(FallbackReason.READ_ERROR);
    }
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(2);
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(3);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(5);
  }

  @Test
  void shouldKeepMemoryThatATaskStillHoldsWhenTheExecutorStops() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 100_000);
    blocks.add(block(1, 0, 1));
    HoldingHandler handler = new HoldingHandler(1);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, handler);
    handler.left.await();
    ManagedBuffer held = (ManagedBuffer) handler.results.get(0);
    // The transport gives its own reference back.
    while (!held.toString().contains("references=1]")) {
      Thread.onSpinWait();
    }

    reader.transport().close();
    reader.allowMemoryToStay();

    assertThat(held.createInputStream().readAllBytes())
        .isEqualTo(server.outputs().expected(blocks.get(0)));
    held.release();
  }
}
