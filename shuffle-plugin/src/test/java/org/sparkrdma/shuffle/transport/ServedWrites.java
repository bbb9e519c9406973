// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.pinned.WritePins;
import org.sparkrdma.shuffle.settings.ServeSettings;

/**
 * Bytes that the disk of map outputs writes because they are served, and the time of serving them.
 * They are on the disk already, and in the page cache; each block is read once. {@code
 * ServedWritesIT} runs it in guests, because it needs root and a device that pins memory.
 *
 * <p>A reducer's blocks fit into the slots that one reader may have, which are 2 MiB here; those of
 * all reducers at once are 16 times as much.
 */
@Timeout(200)
class ServedWrites {
  private static final int MAPS = 8;
  private static final int REDUCERS = 64;
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int OUTPUT_BYTES = REDUCERS * BLOCK_BYTES;
  private static final long ALL_BYTES = (long) MAPS * OUTPUT_BYTES;

  /** Odd, for the medians. */
  private static final int ROUNDS = 3;

  @TempDir private Path directory;
  private final Random random = new Random(11);

  /** A way of serving. */
  private enum Way {
    WINDOW,
    AUTO,
    COPY;

    /** The settings, with one window for each map output. */
    TestExecutor.Options options(long incarnation) {
      var options = new TestExecutor.Options(incarnation).windows(OUTPUT_BYTES);
      return switch (this) {
        case WINDOW -> options.mode(ServeSettings.Mode.WINDOW);
        case AUTO -> options;
        case COPY -> options.mode(ServeSettings.Mode.COPY);
      };
    }
  }

  /** Figures of one round. */
  private record Served(
      long fetchNs, long syncNs, long writtenBytes, long fromWindows, long fromSlots, long byTcp) {}

  @Test
  void shouldWriteMapOutputsAgainOnlyForWindowsOfAKernelThatPinsForWriting() throws Exception {
    String kernel = System.getProperty("os.version");
    List<String> wrong = new ArrayList<>();
    Path folder = Files.createDirectory(directory.resolve("disk"));
    try (SlowDisk disk = SlowDisk.make(folder, 256L << 20, DelayedDisk.ofWrites())) {
      serve(disk, Way.COPY, 1);
      for (String slow : List.of("disk in memory", "writes take 100 ms more")) {
        if (slow.startsWith("writes")) {
          disk.slowDown();
        }
        for (int atOnce : new int[] {1, REDUCERS}) {
          for (Way way : Way.values()) {
            String title =
                String.join(
                    ", ", "Linux " + kernel, slow, "reducers at once: " + atOnce, way.name());
            Served[] rounds = new Served[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
              rounds[i] = serve(disk, way, atOnce);
            }
            print(title, rounds);
            boolean again = way == Way.WINDOW && WritePins.byKernel(kernel);
            for (Served round : rounds) {
              boolean asExpected =
                  again ? round.writtenBytes >= ALL_BYTES : round.writtenBytes < ALL_BYTES / 16;
              if (!asExpected || (round.byTcp > 0 && way != Way.COPY)) {
                wrong.add(title + ": " + round);
              }
            }
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /**
   * Each reducer reads its block of each map output.
   *
   * @param atOnce number of reducers that read at the same time
   */
  private Served serve(SlowDisk disk, Way way, int atOnce) throws Exception {
    try (TestExecutor server = new TestExecutor(disk.path(), way.options(1));
        TestExecutor reader = new TestExecutor(directory, way.options(2))) {
      write(server, disk);
      long writtenBefore = disk.writtenBytes();
      long startNs = System.nanoTime();
      long byTcp = 0;
      for (int first = 0; first < REDUCERS; first += atOnce) {
        List<BlockRange> blocks = blocks(first, first + atOnce);
        CollectedBlocks collected = new CollectedBlocks(blocks);
        FetchHandler.fetch(reader.transport(), server.endpoint(), blocks, collected);
        byTcp += collected.await().reasons().values().stream().mapToLong(Long::longValue).sum();
      }
      long fetchNs = System.nanoTime() - startNs;
      disk.sync();
      return new Served(
          fetchNs,
          System.nanoTime() - startNs - fetchNs,
          disk.writtenBytes() - writtenBefore,
          server.count(Counter.PIECES_FROM_WINDOWS),
          server.count(Counter.PIECES_FROM_SLOTS),
          byTcp);
    }
  }

  private static List<BlockRange> blocks(int fromReducer, int toReducer) {
    return IntStream.range(fromReducer, toReducer)
        .boxed()
        .flatMap(
            reducer ->
                IntStream.range(0, MAPS)
                    .mapToObj(map -> new BlockRange(0, map, reducer, reducer + 1)))
        .toList();
  }

  private void write(TestExecutor server, SlowDisk disk) throws IOException {
    int[] partitions = new int[REDUCERS];
    Arrays.fill(partitions, BLOCK_BYTES);
    for (int map = 0; map < MAPS; map++) {
      server.outputs().write(map, random, partitions);
    }
    disk.sync();
  }

  private static void print(String title, Served... rounds) {
    System.out.printf(
        "served writes: %s: fetched in %d ms, written to the disk in %d ms more, %d KiB of %d KiB;"
            + " pieces from windows %d, from slots %d, blocks by TCP %d (medians of %d)%n",
        title,
        median(Arrays.stream(rounds).mapToLong(Served::fetchNs).toArray()) / 1_000_000,
        median(Arrays.stream(rounds).mapToLong(Served::syncNs).toArray()) / 1_000_000,
        median(Arrays.stream(rounds).mapToLong(Served::writtenBytes).toArray()) >> 10,
        ALL_BYTES >> 10,
        median(Arrays.stream(rounds).mapToLong(Served::fromWindows).toArray()),
        median(Arrays.stream(rounds).mapToLong(Served::fromSlots).toArray()),
        median(Arrays.stream(rounds).mapToLong(Served::byTcp).toArray()),
        rounds.length);
  }

  private static long median(long... values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
