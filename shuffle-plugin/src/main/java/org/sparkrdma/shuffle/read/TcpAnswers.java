// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Forwards the answers of Spark's own client, one for each block, and counts them. Allocates
 * nothing once it is created, so that an answer is not lost when the executor has no memory. Safe
 * for any thread.
 */
final class TcpAnswers implements BlockFetchingListener {
  private final BlockFetchingListener listener;
  private final ShuffleCounters counters;
  private final int stage;
  private final String[] blockIds;
  private final Set<String> open;
  private long bytes;

  /**
   * @param stage whose task reads, as in {@link org.sparkrdma.shuffle.metrics.StageReads}
   */
  TcpAnswers(
      String[] blockIds, int stage, BlockFetchingListener listener, ShuffleCounters counters) {
    this.stage = stage;
    this.listener = listener;
    this.counters = counters;
    this.blockIds = blockIds;
    this.open = new HashSet<>(Arrays.asList(blockIds));
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    long blockBytes = buffer.size();
    if (close(blockId, blockBytes)) {
      counters.increment(Counter.TCP_BLOCKS_READ);
      counters.add(Counter.TCP_BYTES_READ, blockBytes);
      SafeListener.succeed(listener, blockId, buffer);
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    if (close(blockId, 0)) {
      SafeListener.fail(listener, blockId, failure);
    }
  }

  /** Fails every block that has no answer yet. */
  void failRest(Throwable failure) {
    for (String blockId : blockIds) {
      onBlockFetchFailure(blockId, failure);
    }
  }

  /** The last answer adds the bytes of all to the stage, before Spark can end the task. */
  private synchronized boolean close(String blockId, long blockBytes) {
    boolean first = open.remove(blockId);
    if (first) {
      bytes += blockBytes;
      if (open.isEmpty()) {
        counters.stages().add(stage, 0, 0, bytes);
      }
    }
    return first;
  }
}
