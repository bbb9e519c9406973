// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.serializer.Serializer;

/**
 * Spark's rule for batch fetches: adjacent blocks may be fetched as one if their concatenated bytes
 * are a valid stream. Stateless.
 */
final class BatchFetchRule {
  private static final package$ KEYS = package$.MODULE$;

  private BatchFetchRule() {}

  /** Whether blocks of this configuration may be fetched in batches. */
  static boolean allows(SparkConf conf, Serializer serializer) {
    return serializer.supportsRelocationOfSerializedObjects()
        && streamsCanBeJoined(conf)
        && !isTrue(conf, KEYS.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        // Each encrypted block begins with its own initialisation vector, SPARK-34790.
        && !isTrue(conf, KEYS.IO_ENCRYPTION_ENABLED());
  }

  private static boolean streamsCanBeJoined(SparkConf conf) {
    return !isTrue(conf, KEYS.SHUFFLE_COMPRESS())
        || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
            CompressionCodec$.MODULE$.createCodec(conf));
  }

  private static boolean isTrue(SparkConf conf, ConfigEntry<Object> key) {
    return (Boolean) conf.get(key);
  }
}
