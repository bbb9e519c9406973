// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import com.codahale.metrics.MetricSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;

/**
 * Forwards everything but the fetch of blocks to Spark's own client. Closing it does nothing: it
 * does not own that client. Safe for any thread.
 */
abstract class ForwardingClient extends BlockStoreClient {
  private final BlockStoreClient spark;

  ForwardingClient(BlockStoreClient spark) {
    this.spark = spark;
  }

  @Override
  public Cause diagnoseCorruption(
      String host,
      int port,
      String executorId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksum,
      String algorithm) {
    return spark.diagnoseCorruption(
        host, port, executorId, shuffleId, mapId, reduceId, checksum, algorithm);
  }

  @Override
  public void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    spark.getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public void getHostLocalDirs(
      String host,
      int port,
      String[] executorIds,
      CompletableFuture<Map<String, String[]>> directories) {
    spark.getHostLocalDirs(host, port, executorIds, directories);
  }

  @Override
  public void pushBlocks(
      String host,
      int port,
      String[] blockIds,
      ManagedBuffer[] buffers,
      BlockPushingListener listener) {
    spark.pushBlocks(host, port, blockIds, buffers, listener);
  }

  @Override
  public void finalizeShuffleMerge(
      String host, int port, int shuffleId, int shuffleMergeId, MergeFinalizerListener listener) {
    spark.finalizeShuffleMerge(host, port, shuffleId, shuffleMergeId, listener);
  }

  @Override
  public boolean removeShuffleMerge(String host, int port, int shuffleId, int shuffleMergeId) {
    return spark.removeShuffleMerge(host, port, shuffleId, shuffleMergeId);
  }

  @Override
  public void setAppAttemptId(String id) {
    spark.setAppAttemptId(id);
  }

  @Override
  public String getAppAttemptId() {
    return spark.getAppAttemptId();
  }

  @Override
  public MetricSet shuffleMetrics() {
    return spark.shuffleMetrics();
  }

  /** Does nothing. */
  @Override
  public void close() {}
}
