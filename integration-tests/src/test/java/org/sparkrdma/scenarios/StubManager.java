// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios;

import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
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
public final class StubManager extends SortShuffleManager {
  /** Called by Spark. */
  public StubManager(SparkConf conf) {
    super(conf);
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
      return super.getReader(
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
}
