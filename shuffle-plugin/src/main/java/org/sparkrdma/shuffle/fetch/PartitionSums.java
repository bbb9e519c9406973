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

import java.util.Arrays;

/** Checksums of the partitions of a block, in order; owned by one thread at a time. */
final class PartitionSums {
  private long[] ends = new long[1];
  private long[] sums = new long[1];
  private int count;

  /** Adds the sum of the partition that ends at {@code end} bytes into the block. */
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

  /** The sum of the {@code i}-th partition. */
  long sum(int i) {
    return sums[i];
  }

  /** Whether the checksums cover a block of this length. */
  boolean cover(long blockBytes) {
    return count > 0 && ends[count - 1] == blockBytes;
  }
}
