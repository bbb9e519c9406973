// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FallbackThreads;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.fetch.RecordingListener;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.output.MapOutputs;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import org.sparkrdma.shuffle.read.RdmaReads;
import org.sparkrdma.shuffle.transport.SparkOutputs.Shuffle;

/**
 * Every way in which Spark stores map outputs and computes checksums: each block is read by READ,
 * verified and correct, and no peer is quarantined; no flipped bit reaches a task.
 */
@Tag("slow")
@Timeout(180)
class VerifiedReadsTest {
  private static final String OFF = "off";
  private static final List<String> CODECS = List.of("lz4", "zstd", "snappy", "lzf", "none");
  private static final List<String> SUMS = List.of("ADLER32", "CRC32", "CRC32C", OFF);

  /** Partitions: one, the empty one, two adjacent ones, some, all. */
  private static final int[][] RANGES = {{0, 1}, {5, 6}, {1, 2}, {2, 3}, {1, 4}, {3, 6}, {0, 6}};

  @TempDir Path folder;

  static Stream<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (int codec = 0; codec < CODECS.size(); codec++) {
      for (int sums = 0; sums < SUMS.size(); sums++) {
        // Every codec and every checksum is tested, but not every pair.
        if (codec == 0 || sums == codec % SUMS.size()) {
          cells.add(Arguments.of(CODECS.get(codec), SUMS.get(sums), false));
          cells.add(Arguments.of(CODECS.get(codec), SUMS.get(sums), true));
        }
      }
    }
    return cells.stream();
  }

  @ParameterizedTest(name = "codec {0}, sums {1}, encrypted {2}")
  @MethodSource("cells")
  void shouldVerifyEveryBlockWithoutQuarantine(String codec, String sums, boolean encrypted)
      throws Exception {
    try (SparkOutputs outputs = new SparkOutputs(folder, settings(codec, sums, encrypted))) {
      FakeSparkClient spark = new FakeSparkClient(outputs::block);
      Shuffle sorted = outputs.bySortWriter();
      Shuffle merged = outputs.byUnsafeWriter();
      Shuffle migrated = outputs.migrated(sorted);
      try (ReadingPair pair = new ReadingPair(outputs.served(), spark, "")) {
        readAll(pair, outputs, sorted);
        readAll(pair, outputs, migrated);
        assertThat(pair.fallbacks()).isZero();
        // UnsafeShuffleWriter records the checksums of the spills, before they are encrypted again.
        boolean wrongSums = encrypted && !sums.equals(OFF);
        List<String> first = blocks(merged, new int[][] {{0, 1}});
        assertRight(outputs, pair.fetch(first), first);
        assertThat(pair.count(FallbackReason.CHECKSUM_UNUSABLE))
            .isEqualTo(wrongSums ? merged.maps().size() : 0);
        long before = pair.fallbacks();
        readAll(pair, outputs, merged);
        assertThat(pair.fallbacks()).as("already known").isEqualTo(before);
        assertThat(pair.fallbacks()).isEqualTo(pair.count(FallbackReason.CHECKSUM_UNUSABLE));
        assertThat(spark.blocksFetched()).isEqualTo((int) before);
        assertThat(pair.count(Counter.BLOCKS_VERIFIED))
            .isEqualTo(pair.count(Counter.RDMA_BLOCKS_READ))
            .isGreaterThanOrEqualTo(3L * RANGES.length * SparkOutputs.MAPS);
        assertThat(pair.count(Counter.RDMA_BYTES_READ)).isPositive();
        assertThat(pair.count(Counter.BLOCKS_UNVERIFIED)).isZero();
        assertThat(pair.count(Counter.BLOCKS_CORRUPT)).isZero();
        assertThat(pair.count(Counter.PEERS_QUARANTINED)).isZero();
      }
    }
  }

  private static Map<String, String> settings(String codec, String sums, boolean encrypted) {
    Map<String, String> settings = new HashMap<>();
    if (codec.equals("none")) {
      settings.put("spark.shuffle.compress", "false");
    } else {
      settings.put("spark.io.compression.codec", codec);
    }
    if (sums.equals(OFF)) {
      settings.put("spark.shuffle.checksum.enabled", "false");
    } else {
      settings.put("spark.shuffle.checksum.algorithm", sums);
    }
    settings.put("spark.io.encryption.enabled", Boolean.toString(encrypted));
    return settings;
  }

  private static void readAll(ReadingPair pair, SparkOutputs outputs, Shuffle shuffle)
      throws Exception {
    List<String> blocks = blocks(shuffle, RANGES);
    assertRight(outputs, pair.fetch(blocks), blocks);
  }

  /** A single partition by its own name, several as a batch. */
  private static List<String> blocks(Shuffle shuffle, int[][] ranges) {
    List<String> blocks = new ArrayList<>();
    for (long map : shuffle.maps()) {
      for (int[] range : ranges) {
        String first = "shuffle_" + shuffle.id() + "_" + map + "_" + range[0];
        blocks.add(range[1] == range[0] + 1 ? first : first + "_" + range[1]);
      }
    }
    return blocks;
  }

  private static void assertRight(
      SparkOutputs outputs, Map<String, byte[]> answers, List<String> blocks) {
    for (String block : blocks) {
      assertThat(answers.get(block)).as(block).isEqualTo(outputs.bytes(block));
    }
  }

  @Test
  void shouldCountAndLogBothChecksumsOfACorruptBlock() throws Exception {
    try (SparkOutputs outputs = new SparkOutputs(folder, settings("zstd", "ADLER32", false));
        CapturedLog log = new CapturedLog();
        ReadingPair pair =
            new ReadingPair(
                outputs.served(), new FakeSparkClient(outputs::block), "flip-bit@1,seed=4")) {
      List<String> one = names(outputs.bySortWriter()).subList(0, 1);
      assertThat(pair.fetch(one).get(one.get(0))).isEqualTo(outputs.bytes(one.get(0)));
      assertThat(pair.count(Counter.BLOCKS_CORRUPT)).isEqualTo(1);
      assertThat(pair.count(FallbackReason.CORRUPT)).isEqualTo(1);
      Matcher sums =
          Pattern.compile(
                  "executor=1: block=" + one.get(0) + ".* rdmaCrc32c=(\\w+) tcpCrc32c=(\\w+)")
              .matcher(log.warnings().toString());
      assertThat(sums.find()).as("%s", log.warnings()).isTrue();
      assertThat(sums.group(1)).isNotEqualTo(sums.group(2));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ADLER32", "CRC32", "CRC32C"})
  void shouldDeliverEveryBlockWhenEachReadFlipsABit(String sums) throws Exception {
    try (SparkOutputs outputs = new SparkOutputs(folder, settings("none", sums, false));
        ReadingPair pair =
            new ReadingPair(
                outputs.served(), new FakeSparkClient(outputs::block), "flip-bit@1+,seed=6")) {
      List<String> names = names(outputs.byUnsafeWriter());
      for (int round = 0; round < 20; round++) {
        for (String name : names) {
          assertThat(pair.fetch(List.of(name)).get(name)).isEqualTo(outputs.bytes(name));
        }
      }
      assertThat(pair.count(Counter.BLOCKS_VERIFIED)).isZero();
      assertThat(pair.count(Counter.BLOCKS_CORRUPT)).isPositive();
      assertThat(pair.count(Counter.PEERS_QUARANTINED)).isPositive();
    }
  }

  /** Single blocks and batches, none of them empty. */
  private static List<String> names(Shuffle shuffle) {
    List<String> names = new ArrayList<>();
    for (long map : shuffle.maps()) {
      for (int from = 0; from < SparkOutputs.PARTITIONS - 1; from++) {
        String name = "shuffle_" + shuffle.id() + "_" + map + "_" + from;
        names.add(name);
        names.add(name + "_" + SparkOutputs.PARTITIONS);
      }
    }
    return names;
  }

  /** A server of map outputs and a reader, with the reader's block client for Spark's fetcher. */
  private final class ReadingPair implements AutoCloseable {
    private final FallbackThreads tcp = new FallbackThreads(request -> {});
    private final TestExecutor server;
    private final TestExecutor reader;
    private final RdmaBlockClient client;

    /**
     * @param faults fault plan of the reader's loopback engine
     */
    ReadingPair(MapOutputs outputs, FakeSparkClient spark, String faults) throws Exception {
      server = new TestExecutor(folder, new TestExecutor.Options(1).outputs(outputs));
      reader = new TestExecutor(folder, new TestExecutor.Options(2).faults(faults));
      tcp.start();
      RdmaReads reads =
          new RdmaReads(
              new FetchContext(spark, tcp, reader.counters(), true, 1, new FallbackLog()),
              (peer, stage) -> CompletableFuture.completedFuture(Optional.of(server.endpoint())),
              () -> {});
      reads.useRdma(reader.transport());
      client = reads.client(new FetchingTask(null));
    }

    /** Fetches blocks like Spark's iterator, and opens them as a task does when all are there. */
    Map<String, byte[]> fetch(List<String> blockIds) throws Exception {
      Map<String, ManagedBuffer> blocks = new ConcurrentHashMap<>();
      RecordingListener answers =
          new RecordingListener((blockId, buffer) -> blocks.put(blockId, buffer.retain()));
      client.fetchBlocks("host", 1, "1", blockIds.toArray(String[]::new), answers, null);
      assertThat(answers.awaitAnswers(blockIds.size()))
          .containsExactlyInAnyOrderElementsOf(blockIds);
      assertThat(answers.failures()).isEmpty();
      Map<String, byte[]> bytes = new HashMap<>();
      for (Map.Entry<String, ManagedBuffer> block : blocks.entrySet()) {
        bytes.put(block.getKey(), block.getValue().createInputStream().readAllBytes());
        block.getValue().release();
      }
      return bytes;
    }

    long count(Counter counter) {
      return reader.count(counter);
    }

    long count(FallbackReason reason) {
      return reader.count(reason);
    }

    /** Number of all blocks by TCP, for any reason. */
    long fallbacks() {
      return Stream.of(FallbackReason.values()).mapToLong(this::count).sum();
    }

    @Override
    public void close() {
      tcp.close();
      reader.close();
      server.close();
    }
  }
}
