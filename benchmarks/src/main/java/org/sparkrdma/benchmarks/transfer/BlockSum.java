// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A sum over names and bytes of the blocks of a round that does not depend on their order. Confined
 * to one thread.
 *
 * <p>It covers every byte, or eight of each 64 bytes where its own cost would disturb a
 * measurement.
 */
final class BlockSum {
  /** Length of a chunk of a block; only the last chunk may be shorter. */
  static final int CHUNK_BYTES = 64 << 10;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long FACTOR = 0x9E3779B97F4A7C15L;
  private static final int SPARSE_BYTES = 64;

  private final int strideBytes;
  private final byte[] buffer = new byte[CHUNK_BYTES];
  private long blockSum;
  private long total;

  /**
   * @param everyByte whether to add every byte, or one long of each 64 bytes
   */
  BlockSum(boolean everyByte) {
    this.strideBytes = everyByte ? Long.BYTES : SPARSE_BYTES;
  }

  /**
   * Reads and adds a block.
   *
   * @throws IOException if it has another length
   */
  void addBlock(String blockId, InputStream in, int blockBytes) throws IOException {
    long lengthBytes = 0;
    int count = in.readNBytes(buffer, 0, buffer.length);
    while (count > 0) {
      add(buffer, count);
      lengthBytes += count;
      count = in.readNBytes(buffer, 0, buffer.length);
    }
    if (lengthBytes != blockBytes) {
      throw new IOException(
          "block %s has %d bytes, not %d".formatted(blockId, lengthBytes, blockBytes));
    }
    endBlock(blockId);
  }

  /** Adds the next chunk of the current block. */
  void add(byte[] chunk, int lengthBytes) {
    long sum = blockSum + lengthBytes;
    for (int i = 0; i <= lengthBytes - Long.BYTES; i += strideBytes) {
      sum = sum * FACTOR + (long) LONGS.get(chunk, i);
    }
    blockSum = sum;
  }

  /** Ends the current block, which has this name. */
  void endBlock(String blockId) {
    total += (blockSum ^ blockId.hashCode()) * FACTOR;
    blockSum = 0;
  }

  /** The sum over all blocks. */
  long total() {
    return total;
  }
}
