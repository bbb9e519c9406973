// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.verify;

import com.codahale.metrics.MetricSet;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;

/** A fake of Spark's own transfer: delivers the resolver's blocks. Safe for any thread. */
final class ResolverClient extends BlockStoreClient {
  private final Function<String, ManagedBuffer> blocks;
  private final AtomicInteger fetched = new AtomicInteger();

  ResolverClient(Function<String, ManagedBuffer> blocks) {
    this.blocks = blocks;
  }

  /** Blocks fetched so far. */
  int fetched() {
    return fetched.get();
  }

  @Override
  public void fetchBlocks(
      String host,
      int port,
      String executorId,
      String[] blockIds,
      BlockFetchingListener listener,
      DownloadFileManager files) {
    for (String blockId : blockIds) {
      fetched.incrementAndGet();
      listener.onBlockFetchSuccess(blockId, blocks.apply(blockId));
    }
  }

  @Override
  public MetricSet shuffleMetrics() {
    return Map::of;
  }

  @Override
  public void close() {}
}
