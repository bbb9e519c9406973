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
package org.sparkrdma.shuffle.output;

import org.sparkrdma.shuffle.wire.Located;

/**
 * Checksums that Spark recorded for the partitions of a block, if any. Used by one thread at a
 * time.
 */
public final class RecordedSums implements PieceSums {
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
