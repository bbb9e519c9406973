// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShuffleStreamsTest {
  private final SparkConf conf = new SparkConf(false);
  private final Serializer kryo = new KryoSerializer(conf);

  @ParameterizedTest
  @ValueSource(strings = {"lz4", "lzf", "snappy", "zstd"})
  void shouldAllowBatchesWithEveryCodecThatCanBeJoined(String codec) {
    conf.set("spark.io.compression.codec", codec);
    assertThat(ShuffleStreams.mayBatch(conf, kryo)).isTrue();
  }

  @Test
  void shouldAllowBatchesWithoutCompression() {
    assertThat(ShuffleStreams.mayBatch(conf.set("spark.shuffle.compress", "false"), kryo)).isTrue();
  }

  @Test
  void shouldReadFlagsAsSparkDoes() {
    conf.set("spark.shuffle.compress", "true ").set("spark.io.encryption.enabled", " False");
    assertThat(
            ShuffleStreams.mayBatch(conf.set("spark.shuffle.useOldFetchProtocol", "false "), kryo))
        .isTrue();
  }

  @Test
  void shouldForbidBatchesOfASerializerWithState() {
    assertThat(ShuffleStreams.mayBatch(conf, new JavaSerializer(conf))).isFalse();
  }

  @Test
  void shouldForbidBatchesOfEncryptedBlocks() {
    conf.set("spark.io.encryption.enabled", "true");
    assertThat(ShuffleStreams.mayBatch(conf, kryo)).isFalse();
  }

  @Test
  void shouldForbidBatchesInTheOldProtocol() {
    conf.set("spark.shuffle.useOldFetchProtocol", "true");
    assertThat(ShuffleStreams.mayBatch(conf, kryo)).isFalse();
  }
}
