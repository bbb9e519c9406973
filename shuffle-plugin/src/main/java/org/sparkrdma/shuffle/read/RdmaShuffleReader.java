// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.io.InputStream;
import java.util.function.Supplier;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.util.CompletionIterator;
import org.sparkrdma.shuffle.fetch.FetchingTask;
import org.sparkrdma.shuffle.links.LinkEdge;
import org.sparkrdma.shuffle.spark.ShuffleStreams;
import org.sparkrdma.shuffle.spark.Sorting;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.runtime.BoxedUnit;

/**
 * Reads a range of reduce partitions like Spark's own reader, through Spark's own fetcher with
 * another block client. Where a method or field of Spark is missing, it goes on with Spark's
 * reader, unless the task has received a record. Confined to the task's thread.
 *
 * @param <K> of keys
 * @param <C> of combined values
 */
public final class RdmaShuffleReader<K, C> implements ShuffleReader<K, C> {
  private final SparkEnv env;
  private final RdmaReads reads;
  private final ShuffleDependency<K, ?, C> dependency;
  private final MapSizesByExecutorId blocks;
  private final TaskContext context;
  private final ShuffleReadMetricsReporter metrics;
  private final LinkEdge edge;
  private final Supplier<ShuffleReader<K, C>> sparks;
  private RecordIterator input;

  /**
   * @param reads has the client that fetches remote blocks; null for Spark's own
   * @param blocks to read, as {@link ShuffleStreams#locate} has found them
   * @param edge takes errors about missing methods and fields
   * @param sparks creates Spark's reader of the same range
   */
  public RdmaShuffleReader(
      SparkEnv env,
      RdmaReads reads,
      ShuffleDependency<K, ?, C> dependency,
      MapSizesByExecutorId blocks,
      TaskContext context,
      ShuffleReadMetricsReporter metrics,
      LinkEdge edge,
      Supplier<ShuffleReader<K, C>> sparks) {
    this.env = env;
    this.reads = reads;
    this.dependency = dependency;
    this.blocks = blocks;
    this.context = context;
    this.metrics = metrics;
    this.edge = edge;
    this.sparks = sparks;
  }

  @Override
  public Iterator<Product2<K, C>> read() {
    try {
      return new GuardedRecords(records());
    } catch (LinkageError e) {
      edge.take(e);
      if (hasBegun()) {
        // Combining or sorting has called functions of the job.
        throw e;
      }
      return sparks.get().read();
    }
  }

  private boolean hasBegun() {
    return input != null && input.hasBegun();
  }

  private Iterator<Product2<K, C>> records() {
    input = new RecordIterator(fetched(), dependency.serializer().newInstance(), metrics);
    Iterator<Tuple2<Object, Object>> counted =
        CompletionIterator.<Tuple2<Object, Object>, Iterator<Tuple2<Object, Object>>>apply(
            input,
            () -> {
              context.taskMetrics().mergeShuffleReadMetrics();
              return BoxedUnit.UNIT;
            });
    boolean isPlain = dependency.keyOrdering().isEmpty() && dependency.aggregator().isEmpty();
    // A killed task stops here, and again after sorting or combining has read all records.
    return Sorting.combinedAndSorted(
        context, dependency, isPlain ? counted : new InterruptibleIterator<>(context, counted));
  }

  private Iterator<Tuple2<BlockId, InputStream>> fetched() {
    Serializer serializer = dependency.serializer();
    if (reads == null) {
      BlockStoreClient sparks = env.blockManager().blockStoreClient();
      return ShuffleStreams.fetch(env, sparks, blocks, serializer, context, metrics);
    }
    // Blocks that Spark fetches instead of merged ones have a map index that is not known here.
    FetchingTask task = FetchingTask.ofReader(context);
    MapSizesByExecutorId remembered =
        new MapSizesByExecutorId(task.outputs().remember(blocks.iter()), blocks.enableBatchFetch());
    return ShuffleStreams.fetch(env, reads.client(task), remembered, serializer, context, metrics);
  }

  /**
   * When a method or field of Spark is missing before the first record was read, those of Spark's
   * reader follow instead; later the task fails, and the next attempt uses Spark's reader.
   */
  private final class GuardedRecords extends InterruptibleIterator<Product2<K, C>> {
    /** Those of Spark's reader; null while nothing is missing. */
    private Iterator<Product2<K, C>> instead;

    GuardedRecords(Iterator<Product2<K, C>> records) {
      super(context, records);
    }

    @Override
    public boolean hasNext() {
      try {
        return instead == null ? super.hasNext() : instead.hasNext();
      } catch (LinkageError e) {
        useSparks(e);
        return instead.hasNext();
      }
    }

    @Override
    public Product2<K, C> next() {
      try {
        return instead == null ? super.next() : instead.next();
      } catch (LinkageError e) {
        useSparks(e);
        return instead.next();
      }
    }

    private void useSparks(LinkageError error) {
      edge.take(error);
      if (hasBegun() || instead != null) {
        throw error;
      }
      instead = sparks.get().read();
    }
  }
}
