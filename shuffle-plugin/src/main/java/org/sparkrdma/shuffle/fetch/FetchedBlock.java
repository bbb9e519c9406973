// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A fetched block as Spark reads it; reference-counted as Spark's own network buffers. {@link
 * BlockMemory} is one in registered memory, {@link HeapBlock} one on the heap.
 *
 * <p>Created with one reference. After the last release the memory is used for other blocks: every
 * later access throws, and a concurrent read throws instead of returning other bytes. Safe for any
 * thread.
 */
abstract class FetchedBlock extends ManagedBuffer {
  private static final AtomicIntegerFieldUpdater<FetchedBlock> REFERENCES =
      AtomicIntegerFieldUpdater.newUpdater(FetchedBlock.class, "references");

  private volatile int references = 1;

  /** Number of its segments; empty blocks may have none. */
  abstract int count();

  /** Length of the {@code i}-th segment in bytes, more than 0. */
  abstract int lengthBytes(int i);

  /** A byte of the {@code i}-th segment; of another block when the memory was released. */
  abstract byte get(int i, int position);

  /** Copies bytes of the {@code i}-th segment; of another block when the memory was released. */
  abstract void get(int i, int position, byte[] target, int targetOffset, int bytes);

  /**
   * Gives the memory back, after the last release. Number and lengths of the segments stay, for
   * readers in other threads that have not seen the release yet: they read other bytes and must
   * drop them.
   */
  abstract void free();

  /**
   * Throws when the memory was released.
   *
   * @throws IllegalStateException after the last release
   */
  final void checkLive() {
    // Orders the caller's earlier reads of bytes before this load of the count: a volatile load
    // orders later ones only.
    VarHandle.acquireFence();
    if (references <= 0) {
      throw new IllegalStateException("block read after its last release: sizeBytes=" + size());
    }
  }

  /** Length of all segments in bytes. */
  @Override
  public final long size() {
    long bytes = 0;
    int count = count();
    for (int i = 0; i < count; i++) {
      bytes += lengthBytes(i);
    }
    return bytes;
  }

  /** Copies all bytes to the front of an array, which is long enough. */
  final void copyTo(byte[] target) {
    int at = 0;
    int count = count();
    for (int i = 0; i < count; i++) {
      get(i, 0, target, at, lengthBytes(i));
      at += lengthBytes(i);
    }
  }

  /** A copy on the heap, which stays valid after release. */
  @Override
  public final ByteBuffer nioByteBuffer() {
    checkLive();
    byte[] bytes = new byte[Math.toIntExact(size())];
    copyTo(bytes);
    checkLive();
    return ByteBuffer.wrap(bytes);
  }

  @Override
  public final InputStream createInputStream() {
    checkLive();
    return new SegmentInputStream(this);
  }

  @Override
  public final ManagedBuffer retain() {
    // Never increments from 0, not even briefly: another thread would see a live block.
    if (REFERENCES.getAndUpdate(this, n -> n > 0 ? n + 1 : n) <= 0) {
      throw new IllegalStateException("block retained after its last release");
    }
    return this;
  }

  @Override
  public final ManagedBuffer release() {
    int before = REFERENCES.getAndUpdate(this, n -> n > 0 ? n - 1 : n);
    if (before <= 0) {
      throw new IllegalStateException("block released more often than retained");
    }
    if (before == 1) {
      free();
    }
    return this;
  }

  @Override
  public final Object convertToNetty() {
    return Unpooled.wrappedBuffer(nioByteBuffer());
  }

  @Override
  public final Object convertToNettyForSsl() {
    return convertToNetty();
  }

  @Override
  public final String toString() {
    return "FetchedBlock[sizeBytes=" + size() + " references=" + references + "]";
  }
}
