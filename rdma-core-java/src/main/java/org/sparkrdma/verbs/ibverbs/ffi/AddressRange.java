// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Mapped memory of any length, accessed through bounded buffers. It owns the mapping. At close its
 * pages go back to the system at once; the addresses stay mapped until no buffer over them is
 * reachable, so a buffer that is used after close shows zeros. The next creation or close of a
 * range unmaps unreachable mappings. Safe for any thread, except that close and slice must not
 * overlap.
 *
 * <p>Buffers are slices of windows of just under 2 GiB that begin every 1 GiB, so any slice of at
 * most 1 GiB lies in one of them. A longer slice gets a window of its own.
 */
public final class AddressRange implements AutoCloseable {
  private static final int STRIDE_SHIFT = 30;
  private static final ReferenceQueue<ByteBuffer> UNREACHABLE = new ReferenceQueue<>();

  /** Keeps the reference objects reachable. */
  private static final Set<Window> WINDOWS = ConcurrentHashMap.newKeySet();

  private final Mapping mapping;
  private ByteBuffer[] windows;

  /** Addresses that are unmapped with the last of their windows. */
  private record Mapping(long address, long lengthBytes, AtomicInteger windows) {
    void release() {
      if (windows.decrementAndGet() == 0) {
        Libc.unmap(address, lengthBytes);
      }
    }
  }

  private static final class Window extends PhantomReference<ByteBuffer> {
    private final Mapping mapping;

    Window(ByteBuffer buffer, Mapping mapping) {
      super(buffer, UNREACHABLE);
      this.mapping = mapping;
    }
  }

  /** Takes over a mapping of {@link Libc#map}. */
  public AddressRange(long address, long lengthBytes) {
    unmapUnreachable();
    mapping = new Mapping(address, lengthBytes, new AtomicInteger());
    windows = new ByteBuffer[(int) (((lengthBytes - 1) >>> STRIDE_SHIFT) + 1)];
    for (int i = 0; i < windows.length; i++) {
      long start = (long) i << STRIDE_SHIFT;
      windows[i] = window(start, (int) Math.min(Integer.MAX_VALUE, lengthBytes - start));
    }
  }

  private ByteBuffer window(long offset, int lengthBytes) {
    ByteBuffer window = Native.buffer(mapping.address + offset, lengthBytes);
    mapping.windows.incrementAndGet();
    WINDOWS.add(new Window(window, mapping));
    return window;
  }

  private static void unmapUnreachable() {
    for (var window = (Window) UNREACHABLE.poll();
        window != null;
        window = (Window) UNREACHABLE.poll()) {
      WINDOWS.remove(window);
      window.mapping.release();
    }
  }

  /** A new little-endian buffer over part of it; the range must lie inside. */
  public ByteBuffer slice(long offset, int lengthBytes) {
    Objects.checkFromIndexSize(offset, lengthBytes, mapping.lengthBytes);
    ByteBuffer[] open = windows;
    if (open == null) {
      throw new IllegalStateException("memory is closed");
    }
    ByteBuffer window = open[(int) (offset >>> STRIDE_SHIFT)];
    int start = (int) (offset & ((1L << STRIDE_SHIFT) - 1));
    ByteBuffer slice =
        (long) start + lengthBytes <= window.capacity()
            ? window.slice(start, lengthBytes)
            : window(offset, lengthBytes).slice();
    return slice.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the pages to the system. A second close does nothing. */
  @Override
  public void close() {
    if (windows != null) {
      Libc.dropPages(mapping.address, mapping.lengthBytes);
      abandon();
    }
  }

  /**
   * Abandons the mapping, for a shutdown that finds buffers in use: they keep their content, and
   * the mapping ends with the last of them.
   */
  public void abandon() {
    windows = null;
    unmapUnreachable();
  }
}
