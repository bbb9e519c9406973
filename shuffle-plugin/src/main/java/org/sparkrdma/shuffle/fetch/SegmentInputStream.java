// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Objects;

/**
 * Reads a {@link FetchedBlock} from front to back; owned by one thread, holds no reference.
 *
 * <p>Bytes are returned only if the block was live after they were copied.
 */
final class SegmentInputStream extends InputStream {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final FetchedBlock block;
  private final Iterator<ByteBuffer> rest;
  private ByteBuffer current = NOTHING;
  private long remaining;

  SegmentInputStream(FetchedBlock block) {
    this.block = block;
    this.rest = block.pieces().iterator();
    this.remaining = block.size();
  }

  private boolean advance() {
    block.checkLive();
    while (!current.hasRemaining()) {
      if (!rest.hasNext()) {
        return false;
      }
      current = rest.next().duplicate();
    }
    return true;
  }

  @Override
  public int read() {
    if (!advance()) {
      return -1;
    }
    int value = Byte.toUnsignedInt(current.get());
    remaining--;
    block.checkLive();
    return value;
  }

  @Override
  public int read(byte[] target, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    if (!advance()) {
      return -1;
    }
    int copied = Math.min(length, current.remaining());
    current.get(target, offset, copied);
    remaining -= copied;
    block.checkLive();
    return copied;
  }

  @Override
  public long skip(long count) {
    long skipped = 0;
    while (skipped < count && advance()) {
      int step = (int) Math.min(count - skipped, current.remaining());
      current.position(current.position() + step);
      skipped += step;
    }
    remaining -= skipped;
    return skipped;
  }

  @Override
  public int available() {
    return (int) Math.min(remaining, Integer.MAX_VALUE);
  }
}
