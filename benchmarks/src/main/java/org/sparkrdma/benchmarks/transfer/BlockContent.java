// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Bytes that do not compress and that differ from block to block. Confined to one thread. */
final class BlockContent {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private long state;

  BlockContent(long seed) {
    state = seed;
  }

  /** Fills the first {@code lengthBytes}, a multiple of eight, with the next bytes. */
  void fill(byte[] chunk, int lengthBytes) {
    for (int i = 0; i < lengthBytes; i += Long.BYTES) {
      LONGS.set(chunk, i, next());
    }
  }

  /** SplitMix64. */
  private long next() {
    state += 0x9E3779B97F4A7C15L;
    long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
