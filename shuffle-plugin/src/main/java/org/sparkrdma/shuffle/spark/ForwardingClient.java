// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import com.codahale.metrics.MetricSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;

/**
 * Forwards each call to Spark's own client; a subclass changes what it overrides. {@code
 * dev/build/ListLinks.java} has this class checked for methods that another Spark adds. Safe for
 * any thread.
 */
public class ForwardingClient extends BlockStoreClient {
  private final BlockStoreClient spark;

  /**
   * @param spark Spark's own client, whose owner closes it
   */
  protected ForwardingClient(BlockStoreClient spark) {
    this.spark = spark;
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    spark.fetchBlocks(host, port, executorId, blockIds, listener, files);
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

  /** Does nothing: it does not own Spark's client. */
  @Override
  public void close() {}
}
