// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * One call of {@link BlockTransport#fetch} and which of its blocks are answered. Safe for any
 * thread, except its {@link BlockProgress} objects.
 */
public final class BlockFetch {
  private final Endpoint peer;
  private final DownloadFileManager files;
  private final FetchHandler handler;
  private final BlockRanges ranges;
  private final List<BlockProgress> blocks;
  private final Consumer<BlockFetch> allAnswered;

  /** Has room for all blocks from the beginning: to claim an answer allocates nothing. */
  private final BitSet answered;

  private int unanswered;

  /** Time at which the agent began to fetch its blocks; confined to the agent. */
  private long begunNs;

  /**
   * @param ranges not changed any more
   * @param allAnswered called when all blocks are answered; what it throws is ignored
   */
  public BlockFetch(
      Endpoint peer,
      List<BlockRange> ranges,
      DownloadFileManager files,
      FetchHandler handler,
      Consumer<BlockFetch> allAnswered) {
    this.allAnswered = allAnswered;
    this.peer = peer;
    this.files = files;
    this.handler = handler;
    this.ranges = BlockRanges.of(ranges);
    this.blocks = new ArrayList<>(ranges.size());
    this.unanswered = ranges.size();
    this.answered = new BitSet(ranges.size());
    for (int i = 0; i < ranges.size(); i++) {
      blocks.add(new BlockProgress(this, i));
    }
  }

  /**
   * A fetch that tests a peer: the first bytes of a block are read and dropped, and nothing is
   * delivered.
   */
  public static BlockFetch test(Endpoint peer, BlockRange block, Consumer<BlockFetch> allAnswered) {
    return new BlockFetch(peer, List.of(block), null, NoAnswers.ONLY, allAnswered);
  }

  /** Whether it is a {@link #test}. */
  boolean isTest() {
    return handler == NoAnswers.ONLY;
  }

  public Endpoint peer() {
    return peer;
  }

  /** The agent begins to fetch its blocks. */
  public void begin(long nowNs) {
    begunNs = nowNs;
  }

  /** Time at which the agent began to fetch its blocks. */
  long begunNs() {
    return begunNs;
  }

  /** Files for blocks that are written to disk; null for memory. */
  DownloadFileManager files() {
    return files;
  }

  FetchHandler handler() {
    return handler;
  }

  public List<BlockProgress> blocks() {
    return blocks;
  }

  BlockRanges ranges() {
    return ranges;
  }

  /** Whether the answer of a block was claimed. */
  boolean isAnswered(int index) {
    synchronized (answered) {
      return answered.get(index);
    }
  }

  /**
   * Claims the one answer of a block; false when it was claimed before. Never throws: the block
   * would have no answer.
   */
  boolean claimAnswer(int index) {
    boolean last;
    synchronized (answered) {
      if (answered.get(index)) {
        return false;
      }
      answered.set(index);
      unanswered--;
      last = unanswered == 0;
    }
    if (last) {
      endFetch();
    }
    return true;
  }

  private void endFetch() {
    try {
      allAnswered.accept(this);
    } catch (Throwable e) {
      // The caller answers the last block.
    }
  }

  /**
   * Answers every block without an answer, after the agent has failed, and deletes its file. Their
   * registered memory is not released, because READs may still write it. Never throws.
   *
   * @param disks delete files. When their threads are closed, the files are left to their last
   *     tasks and to the transport, which fails each block: the caller must not wait for a disk
   */
  public void failRest(
      FallbackReason reason, String detail, DeliveryLog log, DirectoryQueues disks) {
    for (int i = 0; i < blocks.size(); i++) {
      if (claimAnswer(i)) {
        BlockAnswers.fail(blocks.get(i), reason, detail, log);
        discard(blocks.get(i), log, disks);
      }
    }
  }

  /** Releases the memory of blocks that no thread uses any more and that Spark does not have. */
  public void releaseMemory(DeliveryLog log) {
    for (int i = 0; i < blocks.size(); i++) {
      try {
        blocks.get(i).releaseMemory();
      } catch (Throwable e) {
        log.notReleased(blocks.get(i), e);
      }
    }
  }

  private static void discard(BlockProgress block, DeliveryLog log, DirectoryQueues disks) {
    try {
      if (block.toDisk()) {
        disks.execute(block.disk().path(), () -> BlockEnds.discard(block, log));
      }
    } catch (RejectedExecutionException e) {
      // See above.
    } catch (Throwable e) {
      log.notReleased(block, e);
    }
  }
}
