// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * A mapping for Java 22 and newer: one segment of any length, unmapped at close. A slice used after
 * that throws {@link IllegalStateException}.
 */
final class MappedSegment implements Mapping {
  private static final int STRIDE_SHIFT = 30;

  /** The longest buffer over a segment that the JDK makes. */
  private static final int LONGEST_BYTES = Integer.MAX_VALUE - 8;

  private static final long PATIENCE_NS = 10_000_000_000L;
  private static final long PAUSE_NS = 100_000;

  private final Arena arena = Arena.ofShared();
  private final MemorySegment segment;

  /** One view for every 1 GiB, each just under 2 GiB long, as in {@link MappedWindows}. */
  private final ByteBuffer[] views;

  private final ByteBuffer[] copyViews;

  /** Maps the first {@code lengthBytes} of the file, which the channel has open. */
  MappedSegment(FileChannel channel, long lengthBytes) throws IOException {
    try {
      segment = channel.map(FileChannel.MapMode.READ_WRITE, 0, lengthBytes, arena);
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
    views = new ByteBuffer[(int) (((lengthBytes - 1) >>> STRIDE_SHIFT) + 1)];
    copyViews = new ByteBuffer[views.length];
    for (int i = 0; i < views.length; i++) {
      long start = (long) i << STRIDE_SHIFT;
      views[i] = slice(start, (int) Math.min(LONGEST_BYTES, lengthBytes - start));
      copyViews[i] = views[i].duplicate();
    }
  }

  @Override
  public ByteBuffer slice(long offset, int lengthBytes) {
    return segment.asSlice(offset, lengthBytes).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public ByteBuffer view(boolean copies, long offset, int lengthBytes) {
    ByteBuffer view = (copies ? copyViews : views)[(int) (offset >>> STRIDE_SHIFT)];
    int at = (int) (offset & ((1L << STRIDE_SHIFT) - 1));
    return view.limit(at + lengthBytes).position(at);
  }

  /** Waits for system calls that are at work on a slice just now; they are short. */
  @Override
  public void close() {
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (true) {
      try {
        arena.close();
        return;
      } catch (IllegalStateException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }
}
