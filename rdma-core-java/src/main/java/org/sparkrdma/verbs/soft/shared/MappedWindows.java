// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A mapped file of any length, accessed through bounded buffers: windows of just under 2 GiB that
 * begin every 1 GiB, so that any range of up to 1 GiB lies in one of them. A longer range gets a
 * mapping of its own. The collector unmaps it when no slice is reachable any more.
 */
public final class MappedWindows {
  private static final int STRIDE_SHIFT = 30;

  private final Path file;
  private final ByteBuffer[] windows;
  private final ByteBuffer[] views;
  private final ByteBuffer[] copyViews;

  /** Maps the first {@code lengthBytes} of the file, which the channel has open. */
  public MappedWindows(FileChannel channel, Path file, long lengthBytes) throws IOException {
    this.file = file;
    int count = (int) (((lengthBytes - 1) >>> STRIDE_SHIFT) + 1);
    windows = new ByteBuffer[count];
    views = new ByteBuffer[count];
    copyViews = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      long start = (long) i << STRIDE_SHIFT;
      windows[i] = map(channel, start, Math.min(Integer.MAX_VALUE, lengthBytes - start));
      views[i] = windows[i].duplicate();
      copyViews[i] = windows[i].duplicate();
    }
  }

  /** The range crosses a window. No descriptor is kept for that. */
  private ByteBuffer map(long start, long lengthBytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return map(channel, start, lengthBytes);
    }
  }

  private static ByteBuffer map(FileChannel channel, long start, long lengthBytes)
      throws IOException {
    return channel.map(FileChannel.MapMode.READ_WRITE, start, lengthBytes);
  }

  /** A new little-endian buffer over part of it; the range must lie inside. */
  public ByteBuffer slice(long offset, int lengthBytes) {
    ByteBuffer window = windows[(int) (offset >>> STRIDE_SHIFT)];
    int at = (int) (offset & ((1L << STRIDE_SHIFT) - 1));
    try {
      ByteBuffer slice =
          (long) at + lengthBytes <= window.capacity()
              ? window.slice(at, lengthBytes)
              : map(offset, lengthBytes);
      return slice.order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A buffer over the range, without allocation. It is valid until the next call of the same user,
   * and has at most 1 GiB.
   *
   * @param copies whether the user copies without the device's lock; else it has the lock
   */
  public ByteBuffer view(boolean copies, long offset, int lengthBytes) {
    ByteBuffer view = (copies ? copyViews : views)[(int) (offset >>> STRIDE_SHIFT)];
    int at = (int) (offset & ((1L << STRIDE_SHIFT) - 1));
    return view.limit(at + lengthBytes).position(at);
  }
}
