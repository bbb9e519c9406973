// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A block in registered memory or, when that is short, on the heap; reference-counted as Spark's
 * own network buffers.
 *
 * <p>Created with one reference. After the last release the memory is used for other blocks: every
 * later access throws, and a concurrent read throws instead of returning other bytes. Safe for any
 * thread.
 */
final class FetchedBlock extends ManagedBuffer {
  private static final AtomicIntegerFieldUpdater<FetchedBlock> REFERENCES =
      AtomicIntegerFieldUpdater.newUpdater(FetchedBlock.class, "references");

  /** Its segments; null when it is on the heap. */
  private final BlockMemory memory;

  /** Its bytes on the heap; null when it is in registered memory. */
  private final byte[] copy;

  /** Counts copies; null when it is in registered memory. */
  private final ReceiveMemory copies;

  private final long sizeBytes;
  private volatile int references = 1;

  /**
   * A block in registered memory.
   *
   * @param memory without a reservation; its segments belong to this object from now on
   */
  FetchedBlock(BlockMemory memory) {
    this.memory = memory;
    this.copy = null;
    this.copies = null;
    this.sizeBytes = memory.bytes();
  }

  /**
   * A block on the heap.
   *
   * @param copy all of the block
   * @param copies is informed of the last release
   */
  FetchedBlock(byte[] copy, ReceiveMemory copies) {
    this.memory = null;
    this.copy = copy;
    this.copies = copies;
    this.sizeBytes = copy.length;
  }

  /**
   * Throws when the memory was released.
   *
   * @throws IllegalStateException after the last release
   */
  void checkLive() {
    // Bytes that the caller has read must have been read before the count is: a load of a volatile
    // alone keeps only later ones in their place.
    VarHandle.acquireFence();
    if (references <= 0) {
      throw new IllegalStateException("block read after its last release: sizeBytes=" + sizeBytes);
    }
  }

  /** Whether it was copied to the heap. */
  boolean isOnHeap() {
    return copy != null;
  }

  /** Number of its segments; copied blocks have one, empty ones may have none. */
  int segments() {
    return copy == null ? memory.count() : 1;
  }

  /** Length of the {@code i}-th segment in bytes. */
  int segmentBytes(int i) {
    return copy == null ? memory.lengthBytes(i) : copy.length;
  }

  /** A byte of the {@code i}-th segment; of another block when the memory was released. */
  byte get(int i, int position) {
    return copy == null ? memory.get(i, position) : copy[position];
  }

  /** Copies bytes of the {@code i}-th segment; of another block when the memory was released. */
  void get(int i, int position, byte[] target, int offset, int lengthBytes) {
    if (copy == null) {
      memory.get(i, position, target, offset, lengthBytes);
    } else {
      System.arraycopy(copy, position, target, offset, lengthBytes);
    }
  }

  @Override
  public long size() {
    return sizeBytes;
  }

  /** A copy on the heap, which stays valid after release. */
  @Override
  public ByteBuffer nioByteBuffer() {
    checkLive();
    byte[] bytes = new byte[Math.toIntExact(sizeBytes)];
    int at = 0;
    for (int i = 0; i < segments(); i++) {
      get(i, 0, bytes, at, segmentBytes(i));
      at += segmentBytes(i);
    }
    checkLive();
    return ByteBuffer.wrap(bytes);
  }

  @Override
  public InputStream createInputStream() {
    checkLive();
    return new SegmentInputStream(this);
  }

  @Override
  public ManagedBuffer retain() {
    // Never increments from 0, not even briefly: another thread would see a live block.
    if (REFERENCES.getAndUpdate(this, n -> n > 0 ? n + 1 : n) <= 0) {
      throw new IllegalStateException("block retained after its last release");
    }
    return this;
  }

  @Override
  public ManagedBuffer release() {
    int before = REFERENCES.getAndUpdate(this, n -> n > 0 ? n - 1 : n);
    if (before <= 0) {
      throw new IllegalStateException("block released more often than retained");
    }
    if (before == 1) {
      free();
    }
    return this;
  }

  private void free() {
    if (copy == null) {
      memory.releaseChunks();
    } else {
      copies.copyReleased(sizeBytes);
    }
  }

  @Override
  public Object convertToNetty() {
    return Unpooled.wrappedBuffer(nioByteBuffer());
  }

  @Override
  public Object convertToNettyForSsl() {
    return convertToNetty();
  }

  @Override
  public String toString() {
    return "FetchedBlock[sizeBytes=" + sizeBytes + " references=" + references + "]";
  }
}
