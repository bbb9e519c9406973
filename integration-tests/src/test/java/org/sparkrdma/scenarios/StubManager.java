// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.util.TaskCompletionListener;
import org.sparkrdma.shuffle.read.RecordIterator;
import org.sparkrdma.shuffle.spark.ShuffleStreams;
import scala.Product2;
import scala.collection.Iterator;

/**
 * A shuffle manager as those of native engines: it writes Spark's files, and its own reader fetches
 * through the client of the block manager. Shuffles that combine, sort or fetch adjacent blocks as
 * one use Spark's reader, which does so too.
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
    if (dependency.aggregator().isDefined()
        || dependency.keyOrdering().isDefined()
        || SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context)) {
      return sort.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    return () -> {
      var unused =
          context.addTaskCompletionListener(
              (TaskCompletionListener) ended -> ended.taskMetrics().mergeShuffleReadMetrics());
      SparkEnv env = SparkEnv.get();
      var blocks =
          env.mapOutputTracker()
              .getMapSizesByExecutorId(
                  handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition);
      return (Iterator<Product2<K, C>>)
          (Iterator<?>)
              new RecordIterator(
                  ShuffleStreams.fetch(
                      env,
                      env.blockManager().blockStoreClient(),
                      new MapSizesByExecutorId(blocks, false),
                      dependency.serializer(),
                      context,
                      metrics),
                  dependency.serializer().newInstance(),
                  metrics);
    };
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
