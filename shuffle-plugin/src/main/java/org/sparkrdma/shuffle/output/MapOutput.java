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

import java.nio.file.Path;

/**
 * One map output: its data file and the offsets of its reduce partitions.
 *
 * <p>Immutable; owns the arrays.
 */
public final class MapOutput {
  private final Path dataFile;
  private final long[] offsets;
  private final long[] sums;

  /**
   * @param dataFile need not exist when all partitions are empty
   * @param offsets start of each partition, and at last the end of the last one
   * @param sums checksum of each partition; null for none
   * @throws IllegalArgumentException when offsets do not begin at 0 or decrease, or the number of
   *     checksums is wrong
   */
  public MapOutput(Path dataFile, long[] offsets, long[] sums) {
    if (offsets.length < 2 || offsets[0] != 0) {
      throw new IllegalArgumentException("bad index: offsets=" + offsets.length);
    }
    for (int i = 1; i < offsets.length; i++) {
      if (offsets[i] < offsets[i - 1]) {
        throw new IllegalArgumentException("bad index: offset decreases: partition=" + (i - 1));
      }
    }
    if (sums != null && sums.length != offsets.length - 1) {
      throw new IllegalArgumentException(
          "bad checksums: sums=" + sums.length + " partitions=" + (offsets.length - 1));
    }
    this.dataFile = dataFile;
    this.offsets = offsets;
    this.sums = sums;
  }

  /** The file with all partitions, one after the other. */
  public Path dataFile() {
    return dataFile;
  }

  /** Number of reduce partitions, empty ones included. */
  public int partitions() {
    return offsets.length - 1;
  }

  /** Start of a partition in the file; for {@link #partitions()}, the end of the last one. */
  public long offset(int partition) {
    return offsets[partition];
  }

  /** Length of all partitions together in bytes. */
  public long lengthBytes() {
    return offsets[offsets.length - 1];
  }

  /** Whether {@link #sum} may be called. */
  public boolean hasSums() {
    return sums != null;
  }

  /** Checksum of a partition. */
  public long sum(int partition) {
    return sums[partition];
  }

  /** The first partition, from {@code first} on, that ends after {@code fileOffset}. */
  int partitionEndingAfter(int first, long fileOffset) {
    int low = first;
    int high = partitions();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (offsets[middle + 1] > fileOffset) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}
