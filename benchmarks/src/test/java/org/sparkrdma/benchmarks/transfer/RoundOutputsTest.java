// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import java.util.zip.CRC32C;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.ShuffleBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Option;

@Timeout(120)
class RoundOutputsTest {
  private static final Layout LAYOUT = new Layout(100 << 10, 2, 3);
  private static final int SHUFFLE = 5;

  @Test
  void shouldWriteFilesThatSparksResolverFindsAndLeaveNone() throws Exception {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[1]")
            .setAppName("outputs")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.shuffle.checksum.algorithm", "CRC32C");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      assertThat(spark.isLocal()).isTrue();
      SparkEnv env = SparkEnv.get();
      var resolver = (IndexShuffleBlockResolver) env.shuffleManager().shuffleBlockResolver();
      RoundOutputs outputs = new RoundOutputs(env, SHUFFLE, LAYOUT);
      BlockSum written = new BlockSum(true);
      outputs.write(42, written);

      BlockSum read = new BlockSum(true);
      Set<Long> distinct = new java.util.HashSet<>();
      for (int map = 0; map < LAYOUT.maps(); map++) {
        long[] sums =
            resolver.getChecksums(
                resolver.getChecksumFile(SHUFFLE, map, "CRC32C", Option.empty()),
                LAYOUT.reducers());
        for (int reducer = 0; reducer < LAYOUT.reducers(); reducer++) {
          byte[] block = read(resolver, map, reducer);
          assertThat(block).hasSize(LAYOUT.blockBytes());
          CRC32C checksum = new CRC32C();
          checksum.update(block);
          assertThat(sums[reducer]).isEqualTo(checksum.getValue());
          distinct.add(checksum.getValue());
          addTo(read, block);
          read.endBlock(Layout.blockId(SHUFFLE, map, reducer));
        }
      }
      assertThat(distinct).hasSize(LAYOUT.blocks());
      assertThat(read.total()).isEqualTo(written.total());

      outputs.remove();
      assertThat(resolver.getDataFile(SHUFFLE, 0)).doesNotExist();
      assertThatThrownBy(() -> read(resolver, 0, 0)).isInstanceOf(java.io.IOException.class);
    }
  }

  private static byte[] read(IndexShuffleBlockResolver resolver, int map, int reducer)
      throws Exception {
    ManagedBuffer buffer =
        resolver.getBlockData(new ShuffleBlockId(SHUFFLE, map, reducer), Option.empty());
    try (var in = buffer.createInputStream()) {
      return in.readAllBytes();
    }
  }

  private static void addTo(BlockSum sum, byte[] block) {
    for (int at = 0; at < block.length; at += BlockSum.CHUNK_BYTES) {
      int length = Math.min(BlockSum.CHUNK_BYTES, block.length - at);
      byte[] chunk = new byte[length];
      System.arraycopy(block, at, chunk, 0, length);
      sum.add(chunk, length);
    }
  }
}
