// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.leak.LeakRecord;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * Memory of one block: what {@link ReceiveMemory} has reserved for it, and its segments, which are
 * contiguous bytes in one chunk each. It holds one reference to the chunk of each segment.
 *
 * <p>The first segment is in fields, because nearly all blocks have only one. Owned by the thread
 * that owns the block; the amounts of the reservation are guarded by the {@link ReceiveMemory}.
 */
public final class BlockMemory {
  private RegisteredChunk chunk;
  private int offset;
  private int lengthBytes;

  /** The segments after the first; null when there are none. */
  private List<Segment> more;

  /** Where memory is reserved; null before the first reservation. */
  ReceiveMemory receive;

  /** The reader's part of receive memory; null without a reservation. Guarded by ReceiveMemory. */
  ReceiveMemory.Reader reader;

  /** Guarded by ReceiveMemory. */
  long reservedBytes;

  /** Reserved bytes for which no sink was placed. Guarded by ReceiveMemory. */
  long unplacedBytes;

  /** Whether heap memory is granted for a copy of it. */
  boolean copyGranted;

  /** Of the reservation. */
  LeakRecord leakRecord;

  /** A segment after the first. */
  private static final class Segment {
    private final RegisteredChunk chunk;
    private final int offset;
    private int lengthBytes;

    Segment(RegisteredChunk chunk, int offset, int lengthBytes) {
      this.chunk = chunk;
      this.offset = offset;
      this.lengthBytes = lengthBytes;
    }
  }

  /**
   * Adds bytes, which extend the last segment when they follow it directly.
   *
   * @param from chunk that the caller holds; a new segment retains it
   */
  public void add(RegisteredChunk from, int at, int bytes) {
    if (chunk == null) {
      from.retain();
      chunk = from;
      offset = at;
      lengthBytes = bytes;
    } else if (more == null && from == chunk && at == offset + lengthBytes) {
      lengthBytes += bytes;
    } else {
      addAfterFirst(from, at, bytes);
    }
  }

  private void addAfterFirst(RegisteredChunk from, int at, int bytes) {
    if (more == null) {
      more = new ArrayList<>();
    }
    Segment last = more.isEmpty() ? null : more.get(more.size() - 1);
    if (last != null && last.chunk == from && at == last.offset + last.lengthBytes) {
      last.lengthBytes += bytes;
      return;
    }
    more.add(new Segment(from, at, bytes));
    from.retain();
  }

  /** Whether memory is reserved for it. */
  boolean isReserved() {
    return reader != null;
  }

  /** Ends its reservation if it has one; its segments stay. */
  void endReservation() {
    if (reader != null) {
      receive.endReservation(this);
    }
  }

  /** Moves its segments into a buffer; copies them to the heap if that is granted. */
  FetchedBlock toFetchedBlock() {
    endReservation();
    FetchedBlock copy = copyGranted ? receive.tryCopy(this) : null;
    return copy == null ? new FetchedBlock(this) : copy;
  }

  /** Ends the grant of a copy that was not made. */
  void endCopyGrant() {
    if (copyGranted) {
      copyGranted = false;
      receive.copyReleased(bytes());
    }
  }

  /** Number of segments. */
  int count() {
    if (chunk == null) {
      return 0;
    }
    return more == null ? 1 : 1 + more.size();
  }

  /** Length of the {@code i}-th segment in bytes, more than 0. */
  int lengthBytes(int i) {
    return i == 0 ? lengthBytes : more.get(i - 1).lengthBytes;
  }

  /** Length of all segments. */
  long bytes() {
    long bytes = lengthBytes;
    for (int i = 1; i < count(); i++) {
      bytes += lengthBytes(i);
    }
    return bytes;
  }

  /** A new view of the {@code i}-th segment. */
  ByteBuffer view(int i) {
    if (i == 0) {
      return chunk.slice(offset, lengthBytes);
    }
    Segment segment = more.get(i - 1);
    return segment.chunk.slice(segment.offset, segment.lengthBytes);
  }

  /** A byte of the {@code i}-th segment. */
  byte get(int i, int position) {
    if (i == 0) {
      return chunk.get(offset + position);
    }
    Segment segment = more.get(i - 1);
    return segment.chunk.get(segment.offset + position);
  }

  /** Copies bytes of the {@code i}-th segment. */
  void get(int i, int position, byte[] target, int targetOffset, int bytes) {
    if (i == 0) {
      chunk.get(offset + position, target, targetOffset, bytes);
    } else {
      Segment segment = more.get(i - 1);
      segment.chunk.get(segment.offset + position, target, targetOffset, bytes);
    }
  }

  /** Copies all bytes to the front of an array, which is long enough. */
  void copyTo(byte[] target) {
    int at = 0;
    for (int i = 0; i < count(); i++) {
      get(i, 0, target, at, lengthBytes(i));
      at += lengthBytes(i);
    }
  }

  /** Releases bytes at the end. */
  void releaseLast(long bytes) {
    long left = bytes;
    while (left > 0) {
      boolean first = more == null || more.isEmpty();
      int last = first ? lengthBytes : more.get(more.size() - 1).lengthBytes;
      if (last > left) {
        shorten(first, (int) left);
        return;
      }
      left -= last;
      if (first) {
        releaseFirst();
      } else {
        more.remove(more.size() - 1).chunk.release();
      }
    }
  }

  private void shorten(boolean first, int bytes) {
    if (first) {
      lengthBytes -= bytes;
    } else {
      more.get(more.size() - 1).lengthBytes -= bytes;
    }
  }

  private void releaseFirst() {
    RegisteredChunk released = chunk;
    chunk = null;
    lengthBytes = 0;
    if (released != null) {
      released.release();
    }
  }

  /** Releases all segments and has none any more; the reservation stays. */
  void release() {
    List<Segment> others = more;
    more = null;
    releaseFirst();
    if (others != null) {
      others.forEach(segment -> segment.chunk.release());
    }
  }

  /**
   * Releases the chunks of all segments, once. The segments stay, for readers in other threads that
   * have not seen the release yet: they read other bytes and must drop them.
   */
  void releaseChunks() {
    if (chunk != null) {
      chunk.release();
    }
    for (int i = 1; i < count(); i++) {
      more.get(i - 1).chunk.release();
    }
  }
}
