// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
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
  private final List<ByteBuffer> pieces;
  private final Runnable release;
  private final boolean onHeap;
  private final long sizeBytes;
  private final AtomicInteger references = new AtomicInteger(1);

  /**
   * Owns the references of the segments from now on.
   *
   * @param segments in the order of the block; empty for an empty block
   */
  FetchedBlock(List<Segment> segments) {
    this(segments.stream().map(Segment::bytes).toList(), releaseOf(List.copyOf(segments)), false);
  }

  /**
   * A block on the heap.
   *
   * @param copy all of the block
   * @param release called after the last release
   */
  FetchedBlock(ByteBuffer copy, Runnable release) {
    this(List.of(copy), release, true);
  }

  private FetchedBlock(List<ByteBuffer> pieces, Runnable release, boolean onHeap) {
    this.pieces = pieces;
    this.release = release;
    this.onHeap = onHeap;
    this.sizeBytes = pieces.stream().mapToLong(ByteBuffer::remaining).sum();
  }

  private static Runnable releaseOf(List<Segment> segments) {
    return () -> segments.forEach(segment -> segment.chunk().release());
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
    if (references.get() <= 0) {
      throw new IllegalStateException("block read after its last release: sizeBytes=" + sizeBytes);
    }
  }

  /** Whether it was copied to the heap. */
  boolean isOnHeap() {
    return onHeap;
  }

  /** Its bytes in order; a reader duplicates them. */
  List<ByteBuffer> pieces() {
    return pieces;
  }

  @Override
  public long size() {
    return sizeBytes;
  }

  /** A copy on the heap, which stays valid after release. */
  @Override
  public ByteBuffer nioByteBuffer() {
    checkLive();
    ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(sizeBytes));
    for (ByteBuffer piece : pieces) {
      copy.put(piece.duplicate());
    }
    checkLive();
    return copy.flip();
  }

  @Override
  public InputStream createInputStream() {
    checkLive();
    return new SegmentInputStream(this);
  }

  @Override
  public ManagedBuffer retain() {
    // Never increments from 0, not even briefly: another thread would see a live block.
    if (references.getAndUpdate(n -> n > 0 ? n + 1 : n) <= 0) {
      throw new IllegalStateException("block retained after its last release");
    }
    return this;
  }

  @Override
  public ManagedBuffer release() {
    int before = references.getAndUpdate(n -> n > 0 ? n - 1 : n);
    if (before <= 0) {
      throw new IllegalStateException("block released more often than retained");
    }
    if (before == 1) {
      release.run();
    }
    return this;
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
