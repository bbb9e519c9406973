// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.output;

import org.sparkrdma.shuffle.wire.Located;

/**
 * Checksums that Spark recorded for the partitions of a block, if any. Used by one thread at a
 * time.
 */
public final class RecordedChecksums implements ExtentChecksums {
  private MapOutput map;
  private int partition;

  /** Begins with the first of these partitions that ends after {@code fileOffset}. */
  public void begin(MapOutput newMap, int first, int last, long fileOffset) {
    map = newMap;
    partition = map.hasSums() ? map.partitionEndingAfter(first, last, fileOffset) : first;
  }

  @Override
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

  /** Empty partitions are not counted. */
  @Override
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

  @Override
  public void write(Located.Encoder answer, long blockStart, int sums) {
    for (int left = sums; left > 0; partition++) {
      if (map.offset(partition + 1) > map.offset(partition)) {
        answer.sum(map.offset(partition + 1) - blockStart, map.sum(partition));
        left--;
      }
    }
  }
}
