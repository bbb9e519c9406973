// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.nio.ByteBuffer;

/**
 * Mapped memory of any length, accessed through bounded buffers. It owns the mapping: close returns
 * its pages to the system. A buffer that is used after close never touches reused memory: it throws
 * {@link IllegalStateException} or shows zeros, see the implementations. Safe for any thread,
 * except that close and slice must not overlap.
 */
public interface AddressRange extends AutoCloseable {
  /** Takes over a mapping of {@link Libc#map}. */
  static AddressRange of(long address, long lengthBytes) {
    return Native.binding().view(address, lengthBytes);
  }

  /** A new little-endian buffer over part of it; the range must lie inside. */
  ByteBuffer slice(long offset, int lengthBytes);

  /** Returns the pages to the system. A second close does nothing. */
  @Override
  void close();

  /**
   * Abandons the mapping without unmapping it, for a shutdown that finds buffers in use. jffi's
   * range is unmapped when no buffer over it is reachable; that of java.lang.foreign stays to the
   * end of the process.
   */
  void abandon();
}
