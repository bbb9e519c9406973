// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/** A sum of memory that does not depend on the order of its blocks. Stateless. */
final class MemorySum {
  private MemorySum() {}

  /**
   * @param memory a whole number of longs
   */
  static long of(ByteBuffer memory) {
    LongBuffer longs = memory.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    long sum = 0;
    while (longs.hasRemaining()) {
      sum += longs.get();
    }
    return sum;
  }
}
