// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * How long a peer's blocks take by TCP, as single blocks show that are fetched for it. Safe for any
 * thread.
 */
public final class TcpTime {
  private long lengthNs;
  private long bytes;

  /** A block has come after this time; what a pause of the peer adds shows nothing. */
  synchronized void add(long afterNs, long blockBytes) {
    long countedNs = Math.min(afterNs, WaitBudget.PEER_NS);
    lengthNs = lengthNs == 0 ? countedNs : lengthNs + (countedNs - lengthNs) / 4;
    bytes = bytes == 0 ? Math.max(1, blockBytes) : bytes + (blockBytes - bytes) / 4;
  }

  /** Time of so many bytes, of a block at least; 0 before the first block. */
  public synchronized long ofNs(long lengthBytes) {
    return lengthBytes <= bytes ? lengthNs : (long) ((double) lengthNs * lengthBytes / bytes);
  }

  /** The listener of a request, whose first block shows the time from now. */
  BlockFetchingListener measuring(BlockFetchingListener listener) {
    long beganNs = System.nanoTime();
    AtomicBoolean first = new AtomicBoolean(true);
    return new BlockFetchingListener() {
      @Override
      public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
        if (first.getAndSet(false)) {
          add(System.nanoTime() - beganNs, buffer.size());
        }
        listener.onBlockFetchSuccess(blockId, buffer);
      }

      @Override
      public void onBlockFetchFailure(String blockId, Throwable failure) {
        listener.onBlockFetchFailure(blockId, failure);
      }
    };
  }
}
