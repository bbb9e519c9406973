// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A sum over the blocks of a round that tells whether the right bytes came under the right names,
 * in whatever order the blocks come. Used by one thread.
 *
 * <p>It looks at every byte, or, where its own cost would blur a measurement, at eight of each 64.
 */
final class BlockSum {
  /** Length of the chunks that a block is given in; only its last one may be shorter. */
  static final int CHUNK_BYTES = 64 << 10;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long FACTOR = 0x9E3779B97F4A7C15L;
  private static final int SPARSE_BYTES = 64;

  private final int strideBytes;
  private long blockSum;
  private long total;

  /**
   * @param everyByte else one long of each 64 bytes
   */
  BlockSum(boolean everyByte) {
    this.strideBytes = everyByte ? Long.BYTES : SPARSE_BYTES;
  }

  /** The next chunk of the present block. */
  void add(byte[] chunk, int lengthBytes) {
    long sum = blockSum + lengthBytes;
    for (int i = 0; i <= lengthBytes - Long.BYTES; i += strideBytes) {
      sum = sum * FACTOR + (long) LONGS.get(chunk, i);
    }
    blockSum = sum;
  }

  /** The present block is complete, and this is its name. */
  void endBlock(String blockId) {
    total += (blockSum ^ blockId.hashCode()) * FACTOR;
    blockSum = 0;
  }

  /** Of all blocks so far. */
  long total() {
    return total;
  }
}
