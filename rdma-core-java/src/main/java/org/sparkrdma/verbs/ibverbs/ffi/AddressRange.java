// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs.ffi;

import java.nio.ByteBuffer;

/**
 * Mapped memory of any length, seen through bounded buffers. It owns the mapping: its pages go back
 * to the system at close. A buffer that is used after close never touches memory of others: it
 * throws {@link IllegalStateException} or shows zeros, see the implementations. Safe for any
 * thread, except that close and slice must not overlap.
 */
public interface AddressRange extends AutoCloseable {
  /** Shows a mapping of {@link Libc#map} and takes it over. */
  static AddressRange of(long address, long lengthBytes) {
    return Binding.calls().view(address, lengthBytes);
  }

  /** A new little-endian buffer over part of it; the range must lie inside. */
  ByteBuffer slice(long offset, int lengthBytes);

  /** Gives the pages back. A second close does nothing. */
  @Override
  void close();

  /**
   * Gives the mapping up without taking it from under its buffers: it goes when no buffer over it
   * is reachable. For a shutdown that finds buffers in use.
   */
  void abandon();
}
