// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.settings.ServeSettings;

/** Blocks that executors fetch by READ, and the memory that they need. */
class RdmaTransportTest extends TransportFixture {
  @Test
  void shouldReadABlockOutOfTheMapOutputFile() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(5, random, 1000, 2000, 0, 3000);
    List<BlockRange> blocks = List.of(block(5, 1, 2));
    CollectedBlocks collected = fetch(reader, server, blocks);
    assertRight(server, blocks, collected);
    assertThat(collected.copiedBytes()).isZero();
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(1);
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(1);
    assertThat(server.count(Counter.PIECES_FROM_WINDOWS)).isEqualTo(1);
  }

  @Test
  void shouldReadNeighbouringBlocksWithOneRead() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(5, random, 1000, 2000, 500, 3000);
    List<BlockRange> blocks = List.of(block(5, 0, 1), block(5, 1, 2), block(5, 2, 4));
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(1);
  }

  @Test
  void shouldReadTenThousandBlocksOfManyMapOutputsInOneRequest() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    for (int map = 0; map < 20; map++) {
      server.outputs().write(map, random, random.ints(500, 1, 2000).toArray());
    }
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      blocks.add(block(i % 20, i / 20, i / 20 + 1));
    }
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(10_000);
    assertThat(server.count(Counter.LOCATES_SERVED)).as("messages").isBetween(1L, 100L);
  }

  @Test
  void shouldAcceptRequestsBeforeItsAnswersHaveCompleted() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).acknowledgeDelay("20ms"));
    TestExecutor server = start(2);
    List<BlockRange> blocks = new ArrayList<>();
    for (int map = 0; map < 20; map++) {
      server.outputs().write(map, random, random.ints(500, 1, 2000).toArray());
      for (int reduce = 0; reduce < 500; reduce++) {
        blocks.add(block(map, reduce, reduce + 1));
      }
    }
    assertRight(server, blocks, fetch(reader, server, blocks));
    assertThat(server.count(Counter.PROTOCOL_ERRORS)).isZero();
    assertThat(reader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(10_000);
  }

  @Test
  void shouldReadBlocksThatSpanWindowsAndChunks() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 700_000, 3_000_000, 5, 0, 900_000);
    List<BlockRange> blocks = List.of(block(1, 0, 5), block(1, 1, 2), block(1, 2, 5));
    assertRight(server, blocks, fetch(reader, server, blocks));
  }

  @Test
  void shouldReadTheSameBytesThroughCopies() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(new TestExecutor.Options(2).mode(ServeSettings.Mode.COPY));
    server.outputs().write(1, random, 700_000, 3_000_000, 5, 0, 900_000);
    List<BlockRange> blocks = List.of(block(1, 0, 1), block(1, 1, 2), block(1, 2, 5));
    CollectedBlocks collected = fetch(reader, server, blocks);
    assertRight(server, blocks, collected);
    assertThat(server.count(Counter.PIECES_FROM_SLOTS)).isPositive();
    assertThat(collected.copiedBytes()).as("as the answers say").isEqualTo(4_600_005);
    assertThat(server.count(Counter.WINDOWS_REGISTERED)).isZero();
  }

  @Test
  void shouldDeliverAnEmptyBlock() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 10, 0, 10);
    List<BlockRange> blocks = List.of(block(1, 1, 2));
    assertRight(server, blocks, fetch(reader, server, blocks));
  }

  @Test
  void shouldReportAnUnknownBlockAndDeliverTheOthers() throws Exception {
    TestExecutor reader = start(1);
    TestExecutor server = start(2);
    server.outputs().write(1, random, 100, 100);
    CollectedBlocks collected =
        fetch(reader, server, List.of(block(1, 0, 1), block(99, 0, 1), block(1, 1, 2)));
    assertThat(collected.reason(1)).isEqualTo(FallbackReason.PEER_UNKNOWN_BLOCK);
    assertThat(collected.bytes(0)).hasSize(100);
    assertThat(collected.bytes(2)).hasSize(100);
  }

  @Test
  void shouldFinishWithAPoolSmallerThanTheRequest() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).pinned(256L << 20, 4L << 20));
    TestExecutor server = start(2);
    server.outputs().write(1, random, random.ints(100, 200_000, 200_001).toArray());
    List<BlockRange> blocks = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      blocks.add(block(1, i, i + 1));
    }
    CollectedBlocks collected = fetch(reader, server, blocks);
    int byRead = 0;
    for (int i = 0; i < blocks.size(); i++) {
      if (!collected.failed(i)) {
        assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
        byRead++;
      } else {
        assertThat(collected.reason(i)).isEqualTo(FallbackReason.POOL_EMPTY);
      }
    }
    assertThat(byRead).as("at least the half of the pool that one reader gets").isGreaterThan(9);
  }

  @Test
  void shouldSendABlockLargerThanThePoolByTcp() throws Exception {
    TestExecutor reader = start(new TestExecutor.Options(1).pinned(256L << 20, 4L << 20));
    TestExecutor server = start(2);
    server.outputs().write(1, random, 6_000_000, 100);
    CollectedBlocks collected = fetch(reader, server, List.of(block(1, 0, 1)));
    assertThat(collected.reason(0)).isEqualTo(FallbackReason.POOL_EMPTY);
    List<BlockRange> small = List.of(block(1, 1, 2));
    assertRight(server, small, fetch(reader, server, small));
  }

  @Test
  void shouldReadMostBlocksWhenThePeersBudgetIsFullOfItsOwnLeases() throws Exception {
    TestExecutor reader = start(1);
    // Control buffers take 256 KiB; what is left holds three windows of 1 MiB, for eight files.
    TestExecutor server =
        start(
            new TestExecutor.Options(2).mode(ServeSettings.Mode.WINDOW).pinned(7L << 19, 1 << 19));
    List<BlockRange> blocks = new ArrayList<>();
    for (int map = 0; map < 8; map++) {
      server.outputs().write(map, random, random.ints(40, 90_000, 90_001).toArray());
    }
    for (int partition = 0; partition < 40; partition++) {
      for (int map = 0; map < 8; map++) {
        blocks.add(block(map, partition, partition + 1));
      }
    }
    CollectedBlocks fetched = fetch(reader, server, blocks);
    int read = 0;
    for (int i = 0; i < blocks.size(); i++) {
      if (!fetched.failed(i)) {
        assertThat(fetched.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
        read++;
      }
    }
    assertThat(read).as("the others use TCP").isGreaterThan(blocks.size() * 9 / 10);
    assertThat(fetched.reasons().keySet()).isSubsetOf(FallbackReason.PEER_BUSY.label());
    assertThat(server.count(Counter.WINDOWS_EVICTED)).isPositive();
    assertThat(server.budget().pinnedBytes()).isLessThanOrEqualTo(7L << 19);
  }
}
