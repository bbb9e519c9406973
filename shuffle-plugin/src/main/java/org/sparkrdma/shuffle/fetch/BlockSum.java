/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
