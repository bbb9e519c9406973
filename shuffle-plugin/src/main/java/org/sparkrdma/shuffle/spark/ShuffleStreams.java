// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.io.InputStream;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.SystemClock;
import scala.Function2;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * Locates a task's shuffle blocks as Spark does, and fetches them through Spark's own fetcher,
 * whose constructor is internal to Spark and may change with each version. Stateless; called by
 * task threads.
 */
public final class ShuffleStreams {
  private static final package$ KEYS = package$.MODULE$;
  private static final long MEBIBYTE = 1L << 20;

  private ShuffleStreams() {}

  /**
   * Locates the blocks of a reader, and decides by its range whether adjacent ones are fetched as
   * one. Asks the driver when the locations are not cached; throws Spark's own exception when
   * outputs are missing.
   *
   * @param startMapIndex first map output
   * @param endMapIndex one past the last; the largest int means all
   * @param startPartition first reduce partition
   * @param endPartition one past the last
   */
  public static MapSizesByExecutorId locate(
      SparkEnv env,
      ShuffleDependency<?, ?, ?> dependency,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context) {
    MapOutputTracker tracker = env.mapOutputTracker();
    boolean batch = SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context);
    int id = dependency.shuffleId();
    if (dependency.isShuffleMergeFinalizedMarked()) {
      MapSizesByExecutorId merged =
          tracker.getPushBasedShuffleMapSizesByExecutorId(
              id, startMapIndex, endMapIndex, startPartition, endPartition);
      return new MapSizesByExecutorId(merged.iter(), batch && merged.enableBatchFetch());
    }
    return new MapSizesByExecutorId(
        tracker.getMapSizesByExecutorId(
            id, startMapIndex, endMapIndex, startPartition, endPartition),
        batch);
  }

  /**
   * Spark's rule for batch fetches: adjacent blocks may be fetched as one if their concatenated
   * bytes are a valid stream.
   */
  static boolean mayBatch(SparkConf conf, Serializer serializer) {
    return serializer.supportsRelocationOfSerializedObjects()
        && streamsCanBeJoined(conf)
        && !flag(conf, KEYS.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        // Each encrypted block begins with its own initialisation vector, SPARK-34790.
        && !flag(conf, KEYS.IO_ENCRYPTION_ENABLED());
  }

  private static boolean streamsCanBeJoined(SparkConf conf) {
    return !flag(conf, KEYS.SHUFFLE_COMPRESS())
        || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
            CompressionCodec$.MODULE$.createCodec(conf));
  }

  /**
   * The blocks as streams, decrypted and decompressed, in the order in which they arrive.
   *
   * @param client fetches the blocks that are not on this host
   * @param serializer of the shuffle; adjacent blocks of a map output are fetched as one where
   *     their range and it allow that
   */
  public static Iterator<Tuple2<BlockId, InputStream>> fetch(
      SparkEnv env,
      BlockStoreClient client,
      MapSizesByExecutorId blocks,
      Serializer serializer,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    SparkConf conf = env.conf();
    SerializerManager serializerManager = env.serializerManager();
    Function2<BlockId, InputStream, InputStream> unwrap = serializerManager::wrapStream;
    boolean batch = blocks.enableBatchFetch() && mayBatch(conf, serializer);
    return new ShuffleBlockFetcherIterator(
            context,
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            blocks.iter(),
            unwrap,
            number(conf, KEYS.REDUCER_MAX_SIZE_IN_FLIGHT()) * MEBIBYTE,
            (int) number(conf, KEYS.REDUCER_MAX_REQS_IN_FLIGHT()),
            (int) number(conf, KEYS.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            number(conf, KEYS.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            (int) number(conf, KEYS.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            flag(conf, KEYS.SHUFFLE_DETECT_CORRUPT()),
            flag(conf, KEYS.SHUFFLE_DETECT_CORRUPT_MEMORY()),
            flag(conf, KEYS.SHUFFLE_CHECKSUM_ENABLED()),
            conf.get(KEYS.SHUFFLE_CHECKSUM_ALGORITHM()),
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
