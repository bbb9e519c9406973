// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.function.Consumer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.shuffle.fetch.ReadBatch;
import org.sparkrdma.verbs.MemoryRegion;

/** One RDMA READ into a run of one chunk, that may grow until it is posted. Owned by the agent. */
final class ReadOperation implements Posted {
  private final ReadBatch batch;
  private final Consumer<ReadBatch> onDone;
  private final long remoteAddress;
  private final int remoteKey;
  private final RegisteredChunk chunk;
  private final int chunkOffset;
  private int lengthBytes;

  /**
   * @param onDone called when the READ has completed
   */
  ReadOperation(
      ReadBatch batch,
      Consumer<ReadBatch> onDone,
      long remoteAddress,
      int remoteKey,
      RegisteredChunk chunk,
      int chunkOffset,
      int lengthBytes) {
    this.batch = batch;
    this.onDone = onDone;
    this.remoteAddress = remoteAddress;
    this.remoteKey = remoteKey;
    this.chunk = chunk;
    this.chunkOffset = chunkOffset;
    this.lengthBytes = lengthBytes;
  }

  ReadBatch batch() {
    return batch;
  }

  long remoteAddress() {
    return remoteAddress;
  }

  int remoteKey() {
    return remoteKey;
  }

  MemoryRegion region() {
    return chunk.region();
  }

  long regionOffset() {
    return chunk.regionOffset() + chunkOffset;
  }

  int lengthBytes() {
    return lengthBytes;
  }

  /** Appends bytes that follow directly both at the peer and in the chunk. */
  boolean append(long address, int key, RegisteredChunk into, int intoOffset, int moreBytes) {
    if (key != remoteKey
        || address != remoteAddress + lengthBytes
        || into != chunk
        || intoOffset != chunkOffset + lengthBytes) {
      return false;
    }
    lengthBytes += moreBytes;
    return true;
  }

  /** Keeps the first bytes, fewer than it has, and returns a READ of the others. */
  ReadOperation splitAt(int firstBytes) {
    ReadOperation rest =
        new ReadOperation(
            batch,
            onDone,
            remoteAddress + firstBytes,
            remoteKey,
            chunk,
            chunkOffset + firstBytes,
            lengthBytes - firstBytes);
    lengthBytes = firstBytes;
    batch.countRead();
    return rest;
  }

  @Override
  public void done() {
    onDone.accept(batch);
  }
}
