// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * READs and batches for all connections, used again when they are done, so that a READ allocates
 * nothing. Keeps a bounded number. Owned by the agent.
 */
final class ReadPool {
  /** The 12,288 blocks of 4 KiB that a task has in flight by default, and more; about 1 MiB. */
  private static final int MAX_READS = 16_384;

  private static final int MAX_BATCHES = 32;

  private final ArrayDeque<ReadOperation> reads = new ArrayDeque<>();
  private final ArrayDeque<ReadBatch> batches = new ArrayDeque<>();
  private final ArrayDeque<List<BlockProgress>> lists = new ArrayDeque<>();

  /** A READ that begins with these bytes; see {@link ReadOperation#begin}. */
  ReadOperation read(
      ReadBatch batch,
      ObjIntConsumer<ReadBatch> onDone,
      long remoteAddress,
      long remoteKey,
      RegisteredChunk chunk,
      int chunkOffset,
      int lengthBytes) {
    ReadOperation free = reads.poll();
    ReadOperation read = free == null ? new ReadOperation(this) : free;
    read.begin(batch, onDone, remoteAddress, remoteKey, chunk, chunkOffset, lengthBytes);
    return read;
  }

  /** An empty batch; see {@link ReadBatch#begin}. */
  ReadBatch batch(long leaseId, long askedNs, long deadlineNs) {
    ReadBatch free = batches.poll();
    ReadBatch batch = free == null ? new ReadBatch() : free;
    batch.begin(leaseId, askedNs, deadlineNs);
    return batch;
  }

  /** An empty list of blocks to locate. */
  List<BlockProgress> blocks() {
    List<BlockProgress> free = lists.poll();
    return free == null ? new ArrayList<>() : free;
  }

  /** The blocks of the list are located. */
  void recycle(List<BlockProgress> blocks) {
    blocks.clear();
    if (lists.size() < MAX_BATCHES) {
      lists.push(blocks);
    }
  }

  /** The READ has completed. */
  void recycle(ReadOperation read) {
    if (reads.size() < MAX_READS) {
      reads.push(read);
    }
  }

  /** All READs of the batch have completed, and its blocks are passed on. */
  void recycle(ReadBatch batch) {
    batch.begin(0, 0, 0);
    if (batches.size() < MAX_BATCHES) {
      batches.push(batch);
    }
  }
}
