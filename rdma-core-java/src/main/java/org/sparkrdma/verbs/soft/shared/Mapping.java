// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.nio.ByteBuffer;

/**
 * A mapped file of any length, accessed through bounded buffers. Java 17 cannot unmap at close, the
 * implementation for Java 22 does.
 */
public interface Mapping extends AutoCloseable {
  /** A new little-endian buffer over part of it; the range must lie inside. */
  ByteBuffer slice(long offset, int lengthBytes);

  /**
   * A buffer over the range, without allocation. It is valid until the next call of the same user,
   * and has at most {@link MappedWindows#VIEW_BYTES}.
   *
   * @param copies whether the user copies without the device's lock; else it has the lock
   */
  ByteBuffer view(boolean copies, long offset, int lengthBytes);

  /** Unmaps the file when no slice of it is in use any more, or sooner. */
  @Override
  void close();
}
