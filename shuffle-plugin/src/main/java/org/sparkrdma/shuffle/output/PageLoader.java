// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Reads ranges of files, so that their pages are in the page cache. */
final class PageLoader {
  private static final int BUFFER_BYTES = 64 << 10;

  private PageLoader() {}

  /**
   * Reads a range of a file.
   *
   * @throws IOException when it cannot be read, or the file is shorter
   */
  static void load(Path file, long offset, long lengthBytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(BUFFER_BYTES, lengthBytes));
    long end = offset + lengthBytes;
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long at = offset;
      while (at < end) {
        buffer.clear().limit((int) Math.min(buffer.capacity(), end - at));
        int count = channel.read(buffer, at);
        if (count < 0) {
          throw new EOFException("data file too short: offset=" + at);
        }
        at += count;
      }
    }
  }
}
