// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.sparkrdma.shuffle.fetch.SuspectBlock;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;
import org.sparkrdma.shuffle.thread.TaskThreads;

/**
 * Compares a suspect block with the TCP data, then delivers the TCP data. For one block, which is
 * answered once. Used by the thread of Spark's client, then by one of {@link ComparisonThreads}.
 */
final class SuspectListener extends TaskThreads.Task implements BlockFetchingListener {
  private final PeerAddress peer;
  private final SuspectBlock suspect;
  private final BlockFetchingListener listener;
  private final ComparisonThreads comparisons;
  private final ShuffleCounters counters;
  private final FallbackLog fallbackLog;

  /** The answer of Spark's client, with a reference of this object; null before. */
  private ManagedBuffer tcp;

  private String tcpBlockId;

  SuspectListener(
      PeerAddress peer,
      SuspectBlock suspect,
      BlockFetchingListener listener,
      ComparisonThreads comparisons,
      ShuffleCounters counters,
      FallbackLog fallbackLog) {
    this.peer = peer;
    this.suspect = suspect;
    this.listener = listener;
    this.comparisons = comparisons;
    this.counters = counters;
    this.fallbackLog = fallbackLog;
  }

  /** Returns before the comparison if it can: the caller may be a thread of all connections. */
  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    // The caller releases its own reference when this returns.
    tcp = buffer.retain();
    tcpBlockId = blockId;
    if (!comparisons.tryStart(this)) {
      compareAndDeliver();
    }
  }

  @Override
  public void run() {
    try {
      compareAndDeliver();
    } finally {
      comparisons.onEnd();
    }
  }

  /** Never throws: the caller would report a failure of a block that is answered. */
  private void compareAndDeliver() {
    try {
      counters.fellBack(compare());
      listener.onBlockFetchSuccess(tcpBlockId, tcp);
    } catch (Throwable e) {
      SafeListener.fail(this, tcpBlockId, e);
    }
    try {
      tcp.release();
    } catch (Throwable e) {
      // Another reference was released twice; the block is answered.
    }
  }

  private FallbackReason compare() {
    try {
      if (suspect.compare(tcp)) {
        return FallbackReason.CHECKSUM_UNUSABLE;
      }
      fallbackLog.corrupt(peer, tcpBlockId, suspect);
    } catch (Throwable e) {
      // An Error too: the block was received and is answered.
      logNotCompared(e);
    }
    return FallbackReason.CORRUPT;
  }

  private void logNotCompared(Throwable e) {
    try {
      fallbackLog.notCompared(peer, tcpBlockId, e);
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
