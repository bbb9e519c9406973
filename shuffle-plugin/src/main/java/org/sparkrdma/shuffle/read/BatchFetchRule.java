/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.read;

import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.serializer.Serializer;

/**
 * Spark's rule for when neighbouring blocks may be fetched as one: their bytes, put together, must
 * still be one stream. Stateless.
 */
final class BatchFetchRule {
  private BatchFetchRule() {}

  /** Whether blocks written so may be fetched in batches. */
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
