// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * A new executor's first fetch: it asks itself for a block that does not exist, before a task waits
 * for a block. So it connects, proves itself and answers once, which loads and links nearly all
 * code that reads and serves; the first request of a task would wait for that several times as long
 * as for all else. The connection ends soon after the answer.
 */
public final class FirstFetch {
  /** Spark counts its shuffles from 0, and the highest number stands for broadcast variables. */
  public static final int SHUFFLE_ID = Integer.MAX_VALUE - 1;

  private static final String NO_BLOCK = "shuffle_" + SHUFFLE_ID + "_0_0";

  private static final BlockFetchingListener NOBODY =
      new BlockFetchingListener() {
        @Override
        public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {}

        @Override
        public void onBlockFetchFailure(String blockId, Throwable exception) {}
      };

  private FirstFetch() {}

  /**
   * Returns at once. Nothing depends on the end, and no counter of a reader counts the block.
   *
   * @param self where this executor listens
   */
  public static void begin(BlockTransport transport, Endpoint self) {
    FetchContext context =
        new FetchContext(
            null,
            (request, blocks, reason, detail) -> {},
            new ShuffleCounters(),
            false,
            1,
            new FallbackLog());
    String[] names = {NO_BLOCK};
    BlockRanges ranges = new BlockRanges(names.length);
    ranges.tryAdd(NO_BLOCK);
    BlockManagerAddress address = new BlockManagerAddress(self.executorId(), "", 0);
    new FetchRequest(context, address, names, ranges, NOBODY, new FetchingTask(null))
        .fetchByRdma(transport, self);
  }
}
