// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import org.sparkrdma.shuffle.wire.Located;

/**
 * Iterates over the checksums that Spark recorded for the partitions of a block, while the extents
 * of the block are written: an extent carries the checksums of the partitions that end in it. Used
 * by one thread at a time.
 */
public final class RecordedChecksums {
  private MapOutput map;
  private int partition;

  /** Begins with the first of these partitions that ends after {@code fileOffset}. */
  public void begin(MapOutput newMap, int first, int last, long fileOffset) {
    map = newMap;
    partition = map.hasSums() ? map.partitionEndingAfter(first, last, fileOffset) : first;
  }

  /**
   * Maximum end of an extent whose checksums fit into the answer.
   *
   * @param at start of the extent in the file
   * @param end maximum end of the extent, not after that of the block
   * @param room number of checksums that fit
   * @return {@code at} when not even one checksum fits
   */
  public long endOfFittingSums(long at, long end, int room) {
    if (!map.hasSums()) {
      return end;
    }
    long last = at;
    int sums = 0;
    for (int i = partition; map.offset(i) < end && map.offset(i + 1) <= end; i++) {
      if (map.offset(i + 1) > map.offset(i)) {
        if (sums == room) {
          return last;
        }
        sums++;
        last = map.offset(i + 1);
      }
    }
    return end;
  }

  /** Number of checksums of an extent up to this offset of the file; empty partitions have none. */
  public int countUntil(long end) {
    int sums = 0;
    if (map.hasSums()) {
      for (int i = partition; map.offset(i) < end && map.offset(i + 1) <= end; i++) {
        if (map.offset(i + 1) > map.offset(i)) {
          sums++;
        }
      }
    }
    return sums;
  }

  /** Writes the next checksums and advances. */
  public void write(Located.Encoder answer, long blockStart, int sums) {
    for (int left = sums; left > 0; partition++) {
      if (map.offset(partition + 1) > map.offset(partition)) {
        answer.sum(map.offset(partition + 1) - blockStart, map.sum(partition));
        left--;
      }
    }
  }
}
