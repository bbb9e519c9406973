// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.function.ObjIntConsumer;
import org.sparkrdma.memory.RegisteredChunk;
import org.sparkrdma.verbs.MemoryRegion;

/**
 * One RDMA READ into a run of one chunk, that may grow until it is posted. Owned by the agent; a
 * {@link ReadPool} gives it out and takes it back when the READ is done.
 */
final class ReadOperation implements PostedRequest {
  private final ReadPool pool;
  private ReadBatch batch;
  private ObjIntConsumer<ReadBatch> onDone;
  private long remoteAddress;
  private long remoteKey;
  private RegisteredChunk chunk;
  private int chunkOffset;
  private int lengthBytes;

  ReadOperation(ReadPool pool) {
    this.pool = pool;
  }

  /**
   * Begins another READ.
   *
   * @param whenDone called with its batch and length when the READ has completed
   */
  void begin(
      ReadBatch ofBatch,
      ObjIntConsumer<ReadBatch> whenDone,
      long address,
      long key,
      RegisteredChunk into,
      int intoOffset,
      int bytes) {
    batch = ofBatch;
    onDone = whenDone;
    remoteAddress = address;
    remoteKey = key;
    chunk = into;
    chunkOffset = intoOffset;
    lengthBytes = bytes;
  }

  ReadBatch batch() {
    return batch;
  }

  long remoteAddress() {
    return remoteAddress;
  }

  long remoteKey() {
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
  boolean append(long address, long key, RegisteredChunk into, int intoOffset, int moreBytes) {
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
  ReadOperation splitAt(int firstBytes, ReadPool from) {
    ReadOperation rest =
        from.read(
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
    ReadBatch ofBatch = batch;
    int bytes = lengthBytes;
    ObjIntConsumer<ReadBatch> whenDone = onDone;
    batch = null;
    onDone = null;
    chunk = null;
    pool.recycle(this);
    whenDone.accept(ofBatch, bytes);
  }
}
