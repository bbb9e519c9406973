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

  SegmentInputStream(FetchedBlock block) {
    this.block = block;
  }

  /** Moves to the next segment at the end of one; returns the bytes left in it, 0 at the end. */
  private int advance() {
    block.checkLive();
    int count = block.count();
    int left = segment < count ? block.lengthBytes(segment) - position : 0;
    if (left == 0 && segment + 1 < count) {
      segment++;
      position = 0;
      left = block.lengthBytes(segment);
    }
    return left;
  }

  @Override
  public int read() {
    if (advance() == 0) {
      return -1;
    }
    int value = Byte.toUnsignedInt(block.get(segment, position));
    position++;
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
    position += copied;
    block.checkLive();
    return copied;
  }

  @Override
  public long skip(long count) {
    long skipped = 0;
    int left = count > 0 ? advance() : 0;
    while (left > 0) {
      int step = (int) Math.min(count - skipped, left);
      position += step;
      skipped += step;
      left = skipped < count ? advance() : 0;
    }
    return skipped;
  }

  @Override
  public int available() {
    long available = -position;
    for (int i = segment; i < block.count(); i++) {
      available += block.lengthBytes(i);
    }
    return (int) Math.min(available, Integer.MAX_VALUE);
  }
}
