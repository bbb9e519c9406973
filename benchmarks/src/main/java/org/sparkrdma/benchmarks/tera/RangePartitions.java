// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.tera;

import java.nio.ByteBuffer;
import org.apache.spark.Partitioner;

/**
 * Sends each key to the partition of its range, so that partitions follow each other in key order.
 * The ranges are equal, because the keys that {@link TeraRecords} generates are uniform.
 */
final class RangePartitions extends Partitioner {
  private static final long serialVersionUID = 1L;

  private final int partitions;

  RangePartitions(int partitions) {
    this.partitions = partitions;
  }

  @Override
  public int numPartitions() {
    return partitions;
  }

  @Override
  public int getPartition(Object key) {
    long prefix = Integer.toUnsignedLong(ByteBuffer.wrap((byte[]) key).getInt());
    return (int) ((prefix * partitions) >>> Integer.SIZE);
  }
}
