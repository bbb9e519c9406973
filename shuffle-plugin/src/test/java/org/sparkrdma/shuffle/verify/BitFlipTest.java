// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.memory.PinnedBudget;
import org.sparkrdma.memory.RegisteredPool;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.address.TestAddresses;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.FallbackLog;
import org.sparkrdma.shuffle.fetch.FetchContext;
import org.sparkrdma.shuffle.fetch.ReaderBlocks;
import org.sparkrdma.shuffle.fetch.TcpFallback;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.read.RdmaBlockClient;
import org.sparkrdma.shuffle.transport.FlippedReads;
import org.sparkrdma.shuffle.verify.SparkOutputs.Shuffle;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.Device;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.spi.EngineSettings;

/** Single flipped bits in blocks as Spark stores them: none may reach a task. */
@Tag("slow")
@Timeout(180)
class BitFlipTest {
  private static final int FLIPS = 1_000;
  private static final int NIGHTLY_FLIPS = 10_000;
  private static final int AT_ONCE = 100;
  private static final int LARGEST_BLOCK = 512 << 10;
  private static final String LOGGER = "org.sparkrdma.shuffle.read.SuspectListener";
  private static final Endpoint PEER =
      new Endpoint(
          "1",
          TestAddresses.listener("127.0.0.1", 1),
          "soft",
          1,
          1,
          new byte[Endpoint.TOKEN_BYTES]);

  @TempDir Path folder;

  static Stream<Arguments> formats() {
    return Stream.of("ADLER32", "CRC32", "CRC32C")
        .flatMap(
            sums ->
                Stream.of("lz4", "zstd", "snappy", "lzf", "none")
                    .map(codec -> Arguments.of(codec, sums)));
  }

  @ParameterizedTest(name = "codec {0}, sums {1}")
  @MethodSource("formats")
  void shouldDetectEachOfAThousandFlippedBits(String codec, String sums) throws Exception {
    detect(codec, sums, FLIPS);
  }

  @ParameterizedTest(name = "codec {0}, sums {1}")
  @MethodSource("formats")
  @Tag("nightly")
  void shouldDetectEachOfTenThousandFlippedBits(String codec, String sums) throws Exception {
    detect(codec, sums, NIGHTLY_FLIPS);
  }

  private void detect(String codec, String sums, int flips) throws Exception {
    Configurator.setLevel(LOGGER, Level.ERROR);
    try (SparkOutputs outputs = new SparkOutputs(folder, settings(codec, sums));
        VerbsEngine engine = Verbs.choose("soft", EngineSettings.of(Map.of())).engine();
        Device device = engine.open(engine.devices().get(0).name());
        ProtectionDomain domain = device.allocateProtectionDomain();
        PinnedBudget budget = new PinnedBudget(256L << 20, 4_096);
        RegisteredPool sinks =
            new RegisteredPool(
                device,
                domain,
                budget,
                Set.of(AccessFlag.LOCAL_WRITE),
                LARGEST_BLOCK,
                8,
                256L << 20)) {
      List<String> names = names(outputs.byUnsafeWriter());
      Map<String, byte[]> right = new HashMap<>();
      names.forEach(name -> right.put(name, outputs.bytes(name)));
      ShuffleCounters counters = new ShuffleCounters();
      ResolverClient spark = new ResolverClient(outputs::block);
      Random random = new Random(codec.hashCode() * 31L + sums.hashCode());
      try (FlippedReads reads = new FlippedReads(outputs.served(), sinks, counters, random);
          TcpFallback tcp = new TcpFallback(() -> {})) {
        RdmaBlockClient client =
            new RdmaBlockClient(
                    new FetchContext(spark, tcp, counters, true, 1, new FallbackLog()),
                    CompletableFuture.completedFuture(reads),
                    id -> CompletableFuture.completedFuture(Optional.of(PEER)))
                .forReader(new ReaderBlocks(null));
        for (int done = 0; done < flips; done += AT_ONCE) {
          // Each name once in a request, as in Spark's requests.
          for (int i = 0; i < AT_ONCE; i += names.size()) {
            List<String> some = names.subList(0, Math.min(names.size(), AT_ONCE - i));
            Answers answers = new Answers(some.size());
            client.fetchBlocks("host", 1, "1", some.toArray(String[]::new), answers, null);
            answers.await();
            some.forEach(name -> assertThat(answers.of(name)).isEqualTo(right.get(name)));
          }
        }
        assertThat(counters.value(Counter.BLOCKS_VERIFIED)).isZero();
        assertThat(counters.value(Counter.BLOCKS_CORRUPT)).isEqualTo(flips);
        assertThat(counters.value(FallbackReason.CORRUPT)).isEqualTo(flips);
        assertThat(spark.fetched()).isEqualTo(flips);
        assertThat(reads.differences()).isEqualTo(flips);
      }
    } finally {
      Configurator.setLevel(LOGGER, Level.WARN);
    }
  }

  @Test
  void shouldCountAndLogBothChecksumsOfACorruptBlock() throws Exception {
    try (SparkOutputs outputs = new SparkOutputs(folder, settings("zstd", "ADLER32"));
        CapturedLog log = new CapturedLog();
        ReadingPair pair =
            new ReadingPair(
                outputs.served(), new ResolverClient(outputs::block), "flip-bit@1,seed=4")) {
      List<String> one = names(outputs.bySortWriter()).subList(0, 1);
      assertThat(pair.fetch(one).of(one.get(0))).isEqualTo(outputs.bytes(one.get(0)));
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

  @Test
  void shouldDeliverEveryBlockWhenEachReadFlipsABit() throws Exception {
    Configurator.setLevel(LOGGER, Level.ERROR);
    try (SparkOutputs outputs = new SparkOutputs(folder, settings("none", "CRC32"));
        ReadingPair pair =
            new ReadingPair(
                outputs.served(), new ResolverClient(outputs::block), "flip-bit@1+,seed=6")) {
      List<String> names = names(outputs.byUnsafeWriter());
      for (int round = 0; round < 20; round++) {
        for (String name : names) {
          assertThat(pair.fetch(List.of(name)).of(name)).isEqualTo(outputs.bytes(name));
        }
      }
      assertThat(pair.count(Counter.BLOCKS_VERIFIED)).isZero();
      assertThat(pair.count(Counter.BLOCKS_CORRUPT)).isGreaterThanOrEqualTo(3);
      assertThat(pair.count(Counter.PEERS_QUARANTINED)).isPositive();
    } finally {
      Configurator.setLevel(LOGGER, Level.WARN);
    }
  }

  private static Map<String, String> settings(String codec, String sums) {
    return codec.equals("none")
        ? Map.of("spark.shuffle.compress", "false", "spark.shuffle.checksum.algorithm", sums)
        : Map.of("spark.io.compression.codec", codec, "spark.shuffle.checksum.algorithm", sums);
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
}
