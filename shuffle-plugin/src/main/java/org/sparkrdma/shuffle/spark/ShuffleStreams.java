// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.io.InputStream;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.SystemClock;
import scala.Function2;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Fetches a task's shuffle blocks through Spark's own fetcher, whose constructor is internal to
 * Spark and may change with each version. Stateless; called by task threads.
 */
public final class ShuffleStreams {
  private static final long MEBIBYTE = 1L << 20;

  private ShuffleStreams() {}

  /**
   * The blocks as streams, decrypted and decompressed, in the order in which they arrive.
   *
   * @param client fetches the blocks that are not on this host
   * @param batch whether adjacent blocks of a map output are fetched as one
   */
  public static Iterator<Tuple2<BlockId, InputStream>> fetch(
      SparkEnv env,
      BlockStoreClient client,
      MapSizesByExecutorId blocks,
      boolean batch,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    SparkConf conf = env.conf();
    SerializerManager serializerManager = env.serializerManager();
    Function2<BlockId, InputStream, InputStream> unwrap = serializerManager::wrapStream;
    package$ keys = package$.MODULE$;
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocks.iter(),
            unwrap,
            number(conf, keys.REDUCER_MAX_SIZE_IN_FLIGHT()) * MEBIBYTE,
            (int) number(conf, keys.REDUCER_MAX_REQS_IN_FLIGHT()),
            (int) number(conf, keys.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            number(conf, keys.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            (int) number(conf, keys.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            flag(conf, keys.SHUFFLE_DETECT_CORRUPT()),
            flag(conf, keys.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            flag(conf, keys.SHUFFLE_CHECKSUM_ENABLED()),
            conf.get(keys.SHUFFLE_CHECKSUM_ALGORITHM()),
            metrics,
            batch,
            new SystemClock())
        .toCompletionIterator();
  }

  private static long number(SparkConf conf, ConfigEntry<Object> key) {
    return ((Number) conf.get(key)).longValue();
  }

  private static boolean flag(SparkConf conf, ConfigEntry<Object> key) {
    return (Boolean) conf.get(key);
  }
}
