// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.shuffle.CapturedLog;
import org.sparkrdma.shuffle.fetch.FakeSparkClient;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.verify.SparkOutputs.Shuffle;

/** Single flipped bits in blocks as Spark stores them: none may reach a task. */
@Tag("slow")
@Timeout(180)
class BitFlipTest {
  private static final String LOGGER = "org.sparkrdma.shuffle.read.SuspectListener";

  @TempDir Path folder;

  @Test
  void shouldCountAndLogBothChecksumsOfACorruptBlock() throws Exception {
    try (SparkOutputs outputs = new SparkOutputs(folder, settings("zstd", "ADLER32"));
        CapturedLog log = new CapturedLog();
        ReadingPair pair =
            new ReadingPair(
                outputs.served(), new FakeSparkClient(outputs::block), "flip-bit@1,seed=4")) {
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

  @ParameterizedTest
  @ValueSource(strings = {"ADLER32", "CRC32", "CRC32C"})
  void shouldDeliverEveryBlockWhenEachReadFlipsABit(String sums) throws Exception {
    Configurator.setLevel(LOGGER, Level.ERROR);
    try (SparkOutputs outputs = new SparkOutputs(folder, settings("none", sums));
        ReadingPair pair =
            new ReadingPair(
                outputs.served(), new FakeSparkClient(outputs::block), "flip-bit@1+,seed=6")) {
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
