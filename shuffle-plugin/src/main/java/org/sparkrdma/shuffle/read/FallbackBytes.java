// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Counts the bytes of blocks that come by TCP although reader and peer use RDMA, and forwards each
 * answer. Safe for any thread.
 */
final class FallbackBytes implements BlockFetchingListener {
  private final BlockFetchingListener listener;
  private final ShuffleCounters counters;

  /**
   * @param listener receives each answer, after its bytes are counted
   */
  FallbackBytes(BlockFetchingListener listener, ShuffleCounters counters) {
    this.listener = listener;
    this.counters = counters;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    counters.add(Counter.FALLBACK_BYTES_READ, buffer.size());
    listener.onBlockFetchSuccess(blockId, buffer);
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    listener.onBlockFetchFailure(blockId, failure);
  }
}
