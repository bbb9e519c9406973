// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.Partitioner;

/**
 * Sends each key to the partition of its range, so that partitions follow each other in key order.
 *
 * <p>Immutable; created on the driver from a sample of the keys and serialized to the map tasks.
 */
final class RangePartitions extends Partitioner {
  private static final long serialVersionUID = 1L;

  /** {@code lowerBounds[i]} is the smallest key of partition {@code i + 1}. */
  private final byte[][] lowerBounds;

  private RangePartitions(byte[][] lowerBounds) {
    this.lowerBounds = lowerBounds;
  }

  /** Cuts the sampled keys into {@code partitions} ranges with equally many samples each. */
  static RangePartitions cut(List<byte[]> sample, int partitions) {
    if (partitions < 1 || sample.isEmpty()) {
      throw new IllegalArgumentException(
          "nothing to cut: partitions=" + partitions + " samples=" + sample.size());
    }
    List<byte[]> sorted = sample.stream().sorted(KeyOrder.UNSIGNED_BYTES).toList();
    byte[][] lowerBounds = new byte[partitions - 1][];
    for (int i = 0; i < lowerBounds.length; i++) {
      lowerBounds[i] = sorted.get((int) ((long) sorted.size() * (i + 1) / partitions));
    }
    return new RangePartitions(lowerBounds);
  }

  @Override
  public int numPartitions() {
    return lowerBounds.length + 1;
  }

  /** Equal bounds, which a sample of few distinct keys gives, leave partitions empty. */
  @Override
  public int getPartition(Object key) {
    byte[] bytes = (byte[]) key;
    int low = 0;
    int high = lowerBounds.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Arrays.compareUnsigned(lowerBounds[middle], bytes) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RangePartitions that
        && Arrays.deepEquals(lowerBounds, that.lowerBounds);
  }

  @Override
  public int hashCode() {
    return Arrays.deepHashCode(lowerBounds);
  }
}
