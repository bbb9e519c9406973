// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.serializer.Serializer;

/**
 * Spark's rule for batch fetches: adjacent blocks may be fetched as one if their concatenated bytes
 * are a valid stream. Stateless.
 */
final class BatchFetchRule {
  private BatchFetchRule() {}

  /** Whether blocks of this configuration may be fetched in batches. */
  static boolean allows(SparkConf conf, Serializer serializer) {
    return serializer.supportsRelocationOfSerializedObjects()
        && streamsCanBeJoined(conf)
        && !conf.getBoolean("spark.shuffle.useOldFetchProtocol", false)
        // Each encrypted block begins with its own initialisation vector, SPARK-34790.
        && !conf.getBoolean("spark.io.encryption.enabled", false);
  }

  private static boolean streamsCanBeJoined(SparkConf conf) {
    return !conf.getBoolean("spark.shuffle.compress", true)
        || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
            CompressionCodec$.MODULE$.createCodec(conf));
  }
}
