// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.memory.RegisteredChunk;

/**
 * Registered memory of one block: its segments, which are contiguous bytes in one chunk each. It
 * holds one reference to the chunk of each segment. While the block is received, the thread that
 * owns the block adds and releases segments; then it is the buffer that Spark reads.
 *
 * <p>One object for both, because each block needs one. The first segment is in fields, because
 * nearly all blocks have only one.
 */
final class BlockMemory extends FetchedBlock {
  private RegisteredChunk chunk;
  private int offset;
  private int lengthBytes;

  /** The segments after the first; null when there are none. */
  private List<Segment> more;

  /** The reader to whose unread blocks these bytes are added; null while they are reserved. */
  private ReaderMemory unreadBy;

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
  void add(RegisteredChunk from, int at, int bytes) {
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

  @Override
  int count() {
    if (chunk == null) {
      return 0;
    }
    return more == null ? 1 : 1 + more.size();
  }

  @Override
  int lengthBytes(int i) {
    return i == 0 ? lengthBytes : more.get(i - 1).lengthBytes;
  }

  /** A new view of the {@code i}-th segment. */
  ByteBuffer view(int i) {
    if (i == 0) {
      return chunk.slice(offset, lengthBytes);
    }
    Segment segment = more.get(i - 1);
    return segment.chunk.slice(segment.offset, segment.lengthBytes);
  }

  @Override
  byte get(int i, int position) {
    if (i == 0) {
      return chunk.get(offset + position);
    }
    Segment segment = more.get(i - 1);
    return segment.chunk.get(segment.offset + position);
  }

  @Override
  void get(int i, int position, byte[] target, int targetOffset, int bytes) {
    if (i == 0) {
      chunk.get(offset + position, target, targetOffset, bytes);
    } else {
      Segment segment = more.get(i - 1);
      segment.chunk.get(segment.offset + position, target, targetOffset, bytes);
    }
  }

  /**
   * The reservation ends, and these bytes belong to the unread blocks of a reader.
   *
   * @return number of bytes, which the caller adds to them
   */
  long markUnread(ReaderMemory reader) {
    long bytes = size();
    if (bytes > 0) {
      unreadBy = reader;
    }
    return bytes;
  }

  /** Ends {@link #markUnread}: the block has a reservation again, or its memory is released. */
  void removeUnread() {
    ReaderMemory reader = unreadBy;
    if (reader != null) {
      long bytes = size();
      unreadBy = null;
      reader.removeUnread(bytes);
    }
  }

  /** Releases bytes at the end, before Spark has the block. */
  void releaseLast(long bytes) {
    long before = unreadBy == null ? 0 : size();
    releaseSegments(bytes);
    if (unreadBy != null) {
      unreadBy.removeUnread(before - size());
    }
  }

  private void releaseSegments(long bytes) {
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

  /** Releases all segments, before Spark has the block, and has none any more. */
  void clear() {
    removeUnread();
    List<Segment> others = more;
    more = null;
    releaseFirst();
    if (others != null) {
      others.forEach(segment -> segment.chunk.release());
    }
  }

  @Override
  void free() {
    removeUnread();
    if (chunk != null) {
      chunk.release();
    }
    for (int i = 1; i < count(); i++) {
      more.get(i - 1).chunk.release();
    }
  }
}
