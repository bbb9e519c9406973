// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.InputStream;
import java.util.Objects;

/**
 * Reads a {@link FetchedBlock} from front to back; owned by one thread, holds no reference.
 *
 * <p>Bytes are returned only if the block was live after they were copied.
 */
final class SegmentInputStream extends InputStream {
  private final FetchedBlock block;
  private int segment;
  private int position;
  private long remaining;

  SegmentInputStream(FetchedBlock block) {
    this.block = block;
    this.remaining = block.size();
  }

  /** Moves to the next segment at the end of one; returns the bytes left in it, 0 at the end. */
  private int advance() {
    block.checkLive();
    if (remaining == 0) {
      return 0;
    }
    int left = block.segmentBytes(segment) - position;
    if (left == 0) {
      segment++;
      position = 0;
      left = block.segmentBytes(segment);
    }
    return left;
  }

  private void moveBy(int bytes) {
    position += bytes;
    remaining -= bytes;
  }

  @Override
  public int read() {
    if (advance() == 0) {
      return -1;
    }
    int value = Byte.toUnsignedInt(block.get(segment, position));
    moveBy(1);
    block.checkLive();
    return value;
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    int copied = Math.min(length, advance());
    if (copied == 0) {
      return -1;
    }
    block.get(segment, position, target, offset, copied);
    moveBy(copied);
    block.checkLive();
    return copied;
  }

  @Override
  public long skip(long count) {
    long skipped = 0;
    int left = count > 0 ? advance() : 0;
    while (left > 0) {
      int step = (int) Math.min(count - skipped, left);
      moveBy(step);
      skipped += step;
      left = skipped < count ? advance() : 0;
    }
    return skipped;
  }

  @Override
  public int available() {
    return (int) Math.min(remaining, Integer.MAX_VALUE);
  }
}
