// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.verbs.MemoryRegion;

/**
 * A reference-counted part of the registered memory of a {@link RegisteredPool}.
 *
 * <p>The pool gives it out with one reference. Each further reader retains and releases it; the
 * last release returns it to the pool. Counting is safe for any thread. The pool gives out the same
 * object again: no caller may use it after its own release.
 */
public final class RegisteredChunk {
  private final RegisteredPool pool;
  private final PoolRegion region;
  private final long offset;
  private final ByteBuffer bytes;
  private final AtomicInteger references = new AtomicInteger();
  private LeakRecord leakRecord;

  /**
   * Records of the references after the first, so that a reader that does not release is found
   * while others hold the chunk; null where no records are kept.
   */
  private final Queue<LeakRecord> retained =
      LeakRecord.isEnabled() ? new ConcurrentLinkedQueue<>() : null;

  RegisteredChunk(RegisteredPool pool, PoolRegion region, long offset, int lengthBytes) {
    this.pool = pool;
    this.region = region;
    this.offset = offset;
    this.bytes = region.memory().slice(offset, lengthBytes);
  }

  PoolRegion poolRegion() {
    return region;
  }

  void lend() {
    leakRecord = LeakRecord.acquire("chunk of a registered pool");
    references.set(1);
  }

  /** {@return the region it lies in} */
  public MemoryRegion region() {
    return region.memoryRegion();
  }

  /** {@return its offset in the region} */
  public long regionOffset() {
    return offset;
  }

  /** {@return the address of its first byte as peers see it} */
  public long address() {
    return region.memoryRegion().address() + offset;
  }

  /** {@return its length in bytes} */
  public int lengthBytes() {
    return bytes.capacity();
  }

  /**
   * {@return a new view of part of it, position 0, little-endian}
   *
   * @param from index of its first byte in this chunk
   * @param lengthBytes its length, at least 0
   */
  public ByteBuffer slice(int from, int lengthBytes) {
    return bytes.slice(from, lengthBytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * {@return the byte at this index}
   *
   * @param index from 0 to the length of this chunk
   */
  public byte get(int index) {
    return bytes.get(index);
  }

  /**
   * Copies bytes from this index on.
   *
   * @param index of the first byte in this chunk
   * @param target array to copy to
   * @param offset index of the first byte in the array
   * @param lengthBytes number of bytes
   */
  public void get(int index, byte[] target, int offset, int lengthBytes) {
    bytes.get(index, target, offset, lengthBytes);
  }

  /**
   * Adds a reference.
   *
   * @throws IllegalStateException when it was returned before
   */
  public void retain() {
    if (retained != null) {
      // Before the count, so that every release finds a record.
      retained.add(LeakRecord.acquire("reference to a chunk"));
    }
    if (references.getAndUpdate(n -> n > 0 ? n + 1 : n) <= 0) {
      endRecord();
      throw new IllegalStateException("retained after the last release");
    }
  }

  private void endRecord() {
    if (retained != null) {
      retained.remove().release();
    }
  }

  /**
   * Removes a reference; the last one returns the chunk to the pool.
   *
   * @throws IllegalStateException when there is none left
   */
  public void release() {
    int before = references.getAndUpdate(n -> n > 0 ? n - 1 : n);
    if (before <= 0) {
      throw new IllegalStateException("released more often than retained");
    }
    if (before == 1) {
      leakRecord.release();
      pool.release(this);
    } else {
      endRecord();
    }
  }
}
