// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Forwards the answers of Spark's own client, one for each block, and counts them. Blocks without
 * an answer may be requested again: then a block of an earlier attempt is taken as well, but not a
 * failure. Allocates nothing for an answer, so that none is lost when the executor has no memory.
 * Safe for any thread.
 */
final class TcpAnswers {
  private final BlockFetchingListener listener;
  private final ShuffleCounters counters;
  private final int stage;
  private final String[] blockIds;

  /** Blocks without an answer. */
  private final Set<String> open;

  private Attempt last;
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
    this.open = new LinkedHashSet<>(Arrays.asList(blockIds));
  }

  /** Blocks without an answer, in the order of the request. */
  synchronized String[] open() {
    return open.toArray(String[]::new);
  }

  /** Receives the answers of one more request for the open blocks. */
  BlockFetchingListener newAttempt() {
    Attempt next = new Attempt();
    synchronized (this) {
      last = next;
    }
    return next;
  }

  /** Fails every block that has no answer yet. */
  void failRest(Throwable failure) {
    for (String blockId : blockIds) {
      fail(blockId, failure);
    }
  }

  private void fail(String blockId, Throwable failure) {
    if (close(blockId, 0)) {
      SafeListener.fail(listener, blockId, failure);
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

  private synchronized boolean isLast(Attempt attempt) {
    return attempt == last;
  }

  /** The answers of one call of Spark's client. */
  private final class Attempt implements BlockFetchingListener {
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
      if (isLast(this)) {
        fail(blockId, failure);
      }
    }
  }
}
