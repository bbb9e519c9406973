// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;

/** CRC32C of a whole block, to compare two fetches of it. Stateless; safe for any thread. */
final class BlockSum {
  private static final int STEP_BYTES = 64 << 10;

  private BlockSum() {}

  /**
   * Computes the checksum and leaves the buffer unchanged: a stream over a Netty buffer would move
   * its reader index.
   *
   * @throws IOException when its file cannot be read
   */
  static long crc32c(ManagedBuffer block) throws IOException {
    CRC32C crc = new CRC32C();
    if (!(block instanceof FileSegmentManagedBuffer)) {
      crc.update(block.nioByteBuffer().duplicate());
      return crc.getValue();
    }
    byte[] step = new byte[STEP_BYTES];
    try (InputStream in = block.createInputStream()) {
      for (int n = in.read(step); n >= 0; n = in.read(step)) {
        crc.update(step, 0, n);
      }
    }
    return crc.getValue();
  }
}
