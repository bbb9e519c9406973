// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Arrays;

/** Checksums of the partitions of a block, in order; owned by one thread at a time. */
public final class PartitionChecksums {
  /** Ends and checksums in turn. */
  private long[] entries = new long[2];

  private int count;

  /** Adds the checksum of the partition that ends at offset {@code end} of the block. */
  public void add(long end, long sum) {
    if (2 * count == entries.length) {
      entries = Arrays.copyOf(entries, 2 * entries.length);
    }
    entries[2 * count] = end;
    entries[2 * count + 1] = sum;
    count++;
  }

  /** Number of checksums. */
  int count() {
    return count;
  }

  /** End of the {@code i}-th partition in the block. */
  long end(int i) {
    return entries[2 * i];
  }

  /** The checksum of the {@code i}-th partition. */
  long sum(int i) {
    return entries[2 * i + 1];
  }

  /** Whether the checksums cover a block of this length. */
  boolean cover(long blockBytes) {
    return count > 0 && end(count - 1) == blockBytes;
  }
}
