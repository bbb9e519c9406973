// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Two readers of one server in real time: one of a slow disk, one of a file in the cache. The disk
 * reads 2 MiB/s, or with {@code -Dtest.disk=delayed}, as in a guest, each read takes 100 ms more.
 */
@Tag("nightly")
@Timeout(180)
class SlowDiskTest {
  private static final int COLD = 40;
  private static final int COLD_BYTES = 1 << 20;
  private static final int WARM_MAP = 1_000;
  private static final int WARM_BYTES = 16 << 10;
  private static final int FETCHES = 3_000;

  private static final boolean DELAYED = "delayed".equals(System.getProperty("test.disk"));

  /**
   * Number of warm fetches for each cold one, until all of these have begun. Where reads are
   * delayed and not limited, a cold block is answered in about a second, so they are spread over
   * all warm fetches.
   */
  private static final int COLD_EACH = DELAYED ? FETCHES / COLD : 10;

  @TempDir private Path directory;
  private final Random random = new Random(7);

  @Test
  void shouldNotDelayWarmBlocksOfOneReaderWhileAnotherWaitsForASlowDisk() throws Exception {
    measure(false);
  }

  @Test
  void shouldNotDelayCachedBlocksOfOneReaderWhileAnotherWaitsForTheSameDisk() throws Exception {
    measure(true);
  }

  /**
   * @param sameDisk whether the slow disk has the warm block, too
   */
  private void measure(boolean sameDisk) throws Exception {
    assumeTrue(
        DELAYED || LimitedReads.available(), "a slow disk needs root and blkio of cgroup v1");
    Path disk = Files.createDirectory(directory.resolve("disk"));
    Path fast = Files.createDirectory(directory.resolve("fast"));
    SlowReads reads = DELAYED ? DelayedDisk.ofReads() : new LimitedReads();
    try (SlowDisk slow = SlowDisk.make(disk, 256L << 20, reads);
        TestExecutor server = new TestExecutor(slow.path(), options(1).secondDirectory(fast));
        TestExecutor coldReader = new TestExecutor(fast, options(2));
        TestExecutor warmReader = new TestExecutor(fast, options(3))) {
      for (int map = 0; map < COLD; map++) {
        server.outputs().write(map, random, COLD_BYTES);
      }
      if (sameDisk) {
        server.outputs().write(WARM_MAP, random, WARM_BYTES);
      } else {
        server.outputs().writeIn(fast, WARM_MAP, random, WARM_BYTES);
      }
      slow.slowDown();

      // The first ones are not compiled, and the first one of all reads the disk.
      latenciesNs(warmReader, server, fetch -> {});
      long[] unloaded = latenciesNs(warmReader, server, fetch -> {});
      List<CollectedBlocks> cold = new ArrayList<>();
      long[] loaded =
          latenciesNs(
              warmReader,
              server,
              fetch -> {
                // One by one, for as many LOCATEs as the reader may have open.
                if (fetch % COLD_EACH == COLD_EACH - 1 && cold.size() < COLD) {
                  cold.add(start(coldReader, server, cold.size()));
                }
              });
      int coldAnswered = cold.stream().mapToInt(CollectedBlocks::answered).sum();
      for (CollectedBlocks blocks : cold) {
        blocks.await();
      }

      System.out.printf(
          "slow disk: warm blocks of %s p50 %d us alone, %d us beside it; p99 %d us, %d us,"
              + " ratio %.2f; cold blocks answered meanwhile %d of %d%n",
          sameDisk ? "the same disk" : "another disk",
          percentile(unloaded, 50) / 1_000,
          percentile(loaded, 50) / 1_000,
          percentile(unloaded, 99) / 1_000,
          percentile(loaded, 99) / 1_000,
          (double) percentile(loaded, 99) / percentile(unloaded, 99),
          coldAnswered,
          COLD);
      assertThat(warmReader.count(Counter.BLOCKS_VERIFIED)).isEqualTo(3L * FETCHES);
      assertThat(percentile(loaded, 99)).isLessThanOrEqualTo(2 * percentile(unloaded, 99));
      assertThat(coldAnswered).as("the disk was slow").isLessThan(COLD);
    }
  }

  private static TestExecutor.Options options(long incarnation) {
    return new TestExecutor.Options(incarnation).mode(ServeSettings.Mode.COPY);
  }

  private static CollectedBlocks start(TestExecutor reader, TestExecutor server, int map) {
    List<BlockRange> block = List.of(new BlockRange(0, map, 0, 1));
    CollectedBlocks collected = new CollectedBlocks(block);
    FetchHandler.fetch(reader.transport(), server.endpoint(), block, collected);
    return collected;
  }

  /** Latencies of fetches of one block, one after another, sorted. */
  private static long[] latenciesNs(TestExecutor reader, TestExecutor server, IntConsumer before)
      throws Exception {
    List<Long> latencies = new ArrayList<>();
    for (int i = 0; i < FETCHES; i++) {
      before.accept(i);
      long from = System.nanoTime();
      CollectedBlocks collected = start(reader, server, WARM_MAP);
      collected.await();
      latencies.add(System.nanoTime() - from);
      assertThat(collected.bytes(0)).hasSize(WARM_BYTES);
    }
    long[] sorted = latencies.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    return sorted;
  }

  private static long percentile(long[] sorted, int percent) {
    return sorted[(sorted.length - 1) * percent / 100];
  }
}
