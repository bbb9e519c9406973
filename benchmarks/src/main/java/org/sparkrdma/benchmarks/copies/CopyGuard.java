// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;

/**
 * The check behind copies out of mappings, once for each batch: a file may have been truncated or
 * be unreadable. Confined to one thread.
 */
final class CopyGuard {
  private final int length;

  /** Keeps the compiler from removing the allocation. */
  private byte[][] arrays = new byte[0][];

  /**
   * @param length of arrays, at least 1
   */
  CopyGuard(int length) {
    this.length = length;
  }

  /**
   * Raises the InternalError of a page that could not be read. HotSpot raises it at the end of a
   * call into its runtime, and an array of arrays whose length the compiler does not know is
   * allocated by one.
   */
  void raisePendingError() {
    arrays = new byte[length][length];
  }

  /** The rest of the page in which a truncated file ends reads as zeros without an error. */
  void requireSize(FileChannel file, long bytes) throws IOException {
    if (file.size() < bytes) {
      throw new EOFException("file was truncated: bytes=" + file.size());
    }
  }

  /** Number of arrays that were allocated last. */
  int arrays() {
    return arrays.length;
  }
}
