// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Arrays;

/** Checksums of the partitions of a block, in order; owned by one thread at a time. */
final class PartitionSums {
  private long[] ends = new long[1];
  private long[] sums = new long[1];
  private int count;

  /** Adds the checksum of the partition that ends at offset {@code end} of the block. */
  void add(long end, long sum) {
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, count * 2);
      sums = Arrays.copyOf(sums, count * 2);
    }
    ends[count] = end;
    sums[count] = sum;
    count++;
  }

  /** Number of checksums. */
  int count() {
    return count;
  }

  /** End of the {@code i}-th partition in the block. */
  long end(int i) {
    return ends[i];
  }

  /** The checksum of the {@code i}-th partition. */
  long sum(int i) {
    return sums[i];
  }

  /** Whether the checksums cover a block of this length. */
  boolean cover(long blockBytes) {
    return count > 0 && ends[count - 1] == blockBytes;
  }
}
