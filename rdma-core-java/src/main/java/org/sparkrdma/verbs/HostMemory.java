// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import java.nio.ByteBuffer;

/**
 * A block of memory of this process that a device can register.
 *
 * <p>Lengths are 64 bit; the bytes are reached through bounded slices, since Java 17 has no other
 * view of long memory. Slicing is safe for any thread; writers and readers of the bytes must
 * synchronize.
 *
 * <p>The caller that allocated it closes it, after the regions over it. Slices taken earlier must
 * not be used afterwards; where the platform cannot refuse the access, the memory stays mapped
 * until the last slice is unreachable, so that a late reader gets stale bytes and never a fault.
 */
public interface HostMemory extends AutoCloseable {
  /** {@return the address of its first byte, in the space that work requests use} */
  long address();

  /** {@return its length in bytes} */
  long lengthBytes();

  /**
   * A direct buffer over part of it, little-endian, position 0, limit and capacity {@code
   * lengthBytes}.
   *
   * @param offset of its first byte in this memory
   * @param lengthBytes its length, at least 0
   * @return the buffer
   * @throws IndexOutOfBoundsException when the range does not lie inside
   * @throws IllegalStateException after close
   */
  ByteBuffer slice(long offset, int lengthBytes);

  /**
   * Releases the memory. A second close does nothing.
   *
   * @throws IllegalStateException while a region over it is registered
   */
  @Override
  void close();
}
