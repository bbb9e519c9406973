// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The READs of one LOCATED: one lease and one deadline. Owned by the agent, which uses it again for
 * another LOCATED when the READs are done.
 *
 * <p>Each of its blocks has a part that is being read. A part keeps its chunks until its READs have
 * completed or the queue pair is destroyed: until then a READ may write its sink. READs complete in
 * the order of the parts, so a block can leave the batch before the READs of later blocks are done.
 */
final class ReadBatch {
  private final List<BlockProgress> blocks = new ArrayList<>();
  private long leaseId;
  private long askedNs;
  private long deadlineNs;
  private int readsLeft;

  /** Bytes that have been read of the blocks that are still in the batch. */
  private long bytesRead;

  /** Whether a READ has completed. */
  private boolean anyRead;

  /**
   * Begins with another LOCATED, without blocks.
   *
   * @param newAskedNs time of its LOCATE
   */
  void begin(long newLeaseId, long newAskedNs, long newDeadlineNs) {
    leaseId = newLeaseId;
    askedNs = newAskedNs;
    deadlineNs = newDeadlineNs;
    readsLeft = 0;
    bytesRead = 0;
    anyRead = false;
    blocks.clear();
  }

  long leaseId() {
    return leaseId;
  }

  /** Time of its LOCATE. */
  long askedNs() {
    return askedNs;
  }

  long deadlineNs() {
    return deadlineNs;
  }

  /** The blocks with a part in it, in their order, without those taken out. */
  List<BlockProgress> blocks() {
    return blocks;
  }

  /** The part of this block belongs to the batch. The pieces of a block follow each other. */
  void add(BlockProgress block) {
    if (blocks.isEmpty() || blocks.get(blocks.size() - 1) != block) {
      blocks.add(block);
    }
  }

  /** One more READ belongs to the batch. */
  void countRead() {
    readsLeft++;
  }

  /** Takes one READ off the count; returns true when it was the last. */
  boolean markReadDone(int lengthBytes) {
    bytesRead += lengthBytes;
    anyRead = true;
    return --readsLeft == 0;
  }

  /** Whether a READ has completed, also of blocks that were taken out. */
  boolean anyRead() {
    return anyRead;
  }

  /** Bytes that have been read of the blocks that are still in the batch. */
  long bytesRead() {
    return bytesRead;
  }

  /**
   * Takes the first blocks out that are complete with their part and whose READs have completed,
   * and adds them to a list. Those with more to read stay, as do all after them.
   */
  void takeComplete(List<BlockProgress> taken) {
    int count = 0;
    while (count < blocks.size() && isRead(blocks.get(count))) {
      BlockProgress block = blocks.get(count++);
      bytesRead -= block.partBytes();
      taken.add(block);
    }
    if (count > 0) {
      blocks.subList(0, count).clear();
    }
  }

  /**
   * Takes out the blocks that found no memory, in their order, and passes them on: no READ has a
   * part of them.
   */
  void takeWithoutMemory(Consumer<BlockProgress> taker) {
    int kept = 0;
    for (int i = 0; i < blocks.size(); i++) {
      BlockProgress block = blocks.get(i);
      if (block.partBytes() == 0 && block.isPartCutOff()) {
        taker.accept(block);
      } else {
        if (kept < i) {
          blocks.set(kept, block);
        }
        kept++;
      }
    }
    if (kept < blocks.size()) {
      blocks.subList(kept, blocks.size()).clear();
    }
  }

  private boolean isRead(BlockProgress block) {
    return block.partBytes() <= bytesRead && block.isCompleteWithPart();
  }

  boolean hasReads() {
    return readsLeft > 0;
  }

  /** Releases the sinks, after the queue pair is destroyed. */
  void releaseSinks() {
    for (BlockProgress block : blocks) {
      block.abandon();
    }
  }
}
