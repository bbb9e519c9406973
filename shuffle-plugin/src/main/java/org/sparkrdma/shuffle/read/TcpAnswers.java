// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Forwards the answers of Spark's own client, one for each block, and counts them. Safe for any
 * thread.
 */
final class TcpAnswers implements BlockFetchingListener {
  private final BlockFetchingListener listener;
  private final ShuffleCounters counters;
  private final Set<String> open;

  TcpAnswers(String[] blockIds, BlockFetchingListener listener, ShuffleCounters counters) {
    this.listener = listener;
    this.counters = counters;
    this.open = new HashSet<>(Arrays.asList(blockIds));
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    if (close(blockId)) {
      counters.increment(Counter.TCP_BLOCKS_READ);
      counters.add(Counter.TCP_BYTES_READ, buffer.size());
      SafeListener.succeed(listener, blockId, buffer);
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    if (close(blockId)) {
      SafeListener.fail(listener, blockId, failure);
    }
  }

  /** Fails every block that has no answer yet. */
  void failRest(Throwable failure) {
    List<String> rest;
    synchronized (this) {
      rest = List.copyOf(open);
    }
    rest.forEach(blockId -> onBlockFetchFailure(blockId, failure));
  }

  private synchronized boolean close(String blockId) {
    return open.remove(blockId);
  }
}
