// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShuffleStreamsTest {
  private final SparkConf conf = new SparkConf(false);
  private final Serializer kryo = new KryoSerializer(conf);

  /** Flags are read as Spark does: it ignores spaces and case. */
  @ParameterizedTest
  @CsvSource({
    "io.compression.codec, lz4, true",
    "io.compression.codec, lzf, true",
    "io.compression.codec, snappy, true",
    "io.compression.codec, zstd, true",
    "shuffle.compress, false, true",
    "shuffle.compress, 'true ', true",
    "io.encryption.enabled, ' False', true",
    "io.encryption.enabled, true, false",
    "shuffle.useOldFetchProtocol, 'false ', true",
    "shuffle.useOldFetchProtocol, true, false"
  })
  void shouldAllowBatchesWhereSparkReadsThem(String key, String value, boolean allowed) {
    conf.set("spark." + key, value);
    assertThat(ShuffleStreams.mayBatch(conf, kryo)).isEqualTo(allowed);
  }

  @Test
  void shouldForbidBatchesOfASerializerWithState() {
    assertThat(ShuffleStreams.mayBatch(conf, new JavaSerializer(conf))).isFalse();
  }
}
