// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Blocks of one LOCATED are delivered while later ones are read. */
@Timeout(120)
class EarlyDeliveryTest {
  private static final int BLOCKS = 8;

  /** A READ fills a chunk of 64 KiB. */
  private static final int READS_PER_BLOCK = 4;

  private static final int BLOCK_BYTES = READS_PER_BLOCK << 16;

  /** Number of the first READ of the last block. */
  private static final int LAST_BLOCK = (BLOCKS - 1) * READS_PER_BLOCK + 1;

  @TempDir private Path directory;
  private final Random random = new Random(11);
  private final List<BlockRange> blocks = new ArrayList<>();
  private TestExecutor server;
  private TestExecutor reader;

  @BeforeEach
  void startServer() throws Exception {
    server =
        new TestExecutor(
            Files.createDirectory(directory.resolve("server")),
            options(2).lease(Duration.ofHours(1)));
    for (int map = 0; map < BLOCKS; map++) {
      server.outputs().write(map, random, BLOCK_BYTES);
      blocks.add(new BlockRange(0, map, 0, 1));
    }
  }

  private static TestExecutor.Options options(long incarnation) {
    return new TestExecutor.Options(incarnation);
  }

  private CollectedBlocks fetch(TestExecutor.Options options) throws Exception {
    reader = new TestExecutor(Files.createDirectory(directory.resolve("reader")), options);
    CollectedBlocks collected = new CollectedBlocks(blocks);
    FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
    return collected;
  }

  @AfterEach
  void closeAllWithoutLeaks() {
    reader.close();
    server.close();
    reader = null;
    server = null;
  }

  private void assertRight(CollectedBlocks collected, int count) {
    for (int i = 0; i < count; i++) {
      assertThat(collected.bytes(i)).isEqualTo(server.outputs().expected(blocks.get(i)));
    }
  }

  @Test
  void shouldDeliverTheBlocksBeforeAReadThatHangs() throws Exception {
    CollectedBlocks collected =
        fetch(options(1).faults("hang@" + LAST_BLOCK).requestTimeout(Duration.ofMinutes(10)));
    collected.awaitFirst(BLOCKS - 1);
    assertRight(collected, BLOCKS - 1);
    assertThat(collected.answered()).isEqualTo(BLOCKS - 1);
    assertThat(reader.count(Counter.RDMA_READS_POSTED)).isEqualTo(BLOCKS * READS_PER_BLOCK);
  }

  @Test
  void shouldNotBlameBlocksThatWereReadBeforeOneThatFails() throws Exception {
    CollectedBlocks collected = fetch(options(1).faults("read-error@" + LAST_BLOCK)).await();
    assertRight(collected, BLOCKS - 1);
    assertThat(collected.reason(BLOCKS - 1)).isEqualTo(FallbackReason.READ_ERROR);
  }
}
