// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/** Compares a suspect block with the TCP data, then delivers the TCP data. For one block. */
final class SuspectListener implements BlockFetchingListener {
  private final PeerAddress peer;
  private final SuspectBlock suspect;
  private final BlockFetchingListener listener;
  private final ShuffleCounters counters;
  private final FallbackLog fallbackLog;

  SuspectListener(
      PeerAddress peer,
      SuspectBlock suspect,
      BlockFetchingListener listener,
      ShuffleCounters counters,
      FallbackLog fallbackLog) {
    this.peer = peer;
    this.suspect = suspect;
    this.listener = listener;
    this.counters = counters;
    this.fallbackLog = fallbackLog;
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    FallbackReason reason = FallbackReason.CORRUPT;
    try {
      if (suspect.compare(buffer)) {
        reason = FallbackReason.CHECKSUM_UNUSABLE;
      } else {
        fallbackLog.corrupt(peer, blockId, suspect);
      }
    } catch (Throwable e) {
      // An Error too: the block was received and is answered below.
      logNotCompared(blockId, e);
    }
    counters.fellBack(reason);
    listener.onBlockFetchSuccess(blockId, buffer);
  }

  private void logNotCompared(String blockId, Throwable e) {
    try {
      fallbackLog.notCompared(peer, blockId, e);
    } catch (Throwable noMemory) {
      // The line is lost, not the block.
    }
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    counters.fellBack(FallbackReason.CORRUPT);
    listener.onBlockFetchFailure(blockId, failure);
  }
}
