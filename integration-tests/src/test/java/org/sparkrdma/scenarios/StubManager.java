// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import java.io.InputStream;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.TaskCompletionListener;
import org.sparkrdma.shuffle.read.RecordIterator;
import scala.Function2;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * A shuffle manager as those of native engines: it writes Spark's files, and its own reader fetches
 * through the client of the block manager. Shuffles that combine or sort use Spark's reader.
 */
public final class StubManager implements ShuffleManager {
  private final SortShuffleManager sort;

  /** Called by Spark. */
  public StubManager(SparkConf conf) {
    sort = new SortShuffleManager(conf);
  }

  @Override
  public <K, V, C> ShuffleHandle registerShuffle(
      int shuffleId, ShuffleDependency<K, V, C> dependency) {
    return sort.registerShuffle(shuffleId, dependency);
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    return sort.getWriter(handle, mapId, context, metrics);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    ShuffleDependency<K, ?, C> dependency = ((BaseShuffleHandle<K, ?, C>) handle).dependency();
    if (dependency.aggregator().isDefined() || dependency.keyOrdering().isDefined()) {
      return sort.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    return () ->
        (Iterator<Product2<K, C>>)
            (Iterator<?>)
                new RecordIterator(
                    streams(
                        new MapSizesByExecutorId(
                            SparkEnv.get()
                                .mapOutputTracker()
                                .getMapSizesByExecutorId(
                                    handle.shuffleId(),
                                    startMapIndex,
                                    endMapIndex,
                                    startPartition,
                                    endPartition),
                            false),
                        context,
                        metrics),
                    dependency.serializer().newInstance(),
                    metrics);
  }

  private static Iterator<Tuple2<BlockId, InputStream>> streams(
      MapSizesByExecutorId blocks, TaskContext context, ShuffleReadMetricsReporter metrics) {
    var unused =
        context.addTaskCompletionListener(
            (TaskCompletionListener) ended -> ended.taskMetrics().mergeShuffleReadMetrics());
    SparkEnv env = SparkEnv.get();
    Function2<BlockId, InputStream, InputStream> unwrap = env.serializerManager()::wrapStream;
    package$ keys = package$.MODULE$;
    return new ShuffleBlockFetcherIterator(
            context,
            env.blockManager().blockStoreClient(),
            env.blockManager(),
            env.mapOutputTracker(),
            blocks.iter(),
            unwrap,
            number(keys.REDUCER_MAX_SIZE_IN_FLIGHT()) << 20,
            (int) number(keys.REDUCER_MAX_REQS_IN_FLIGHT()),
            (int) number(keys.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
            number(keys.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
            (int) number(keys.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
            true,
            false,
            true,
            env.conf().get(keys.SHUFFLE_CHECKSUM_ALGORITHM()),
            metrics,
            false,
            new SystemClock())
        .toCompletionIterator();
  }

  private static long number(ConfigEntry<Object> key) {
    return ((Number) SparkEnv.get().conf().get(key)).longValue();
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    return sort.unregisterShuffle(shuffleId);
  }

  @Override
  public ShuffleBlockResolver shuffleBlockResolver() {
    return sort.shuffleBlockResolver();
  }

  @Override
  public void stop() {
    sort.stop();
  }
}
