// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import org.apache.spark.Partitioner;

/** Keys that are the numbers of partitions; all such of one size are equal. */
final class NumberedPartitioner extends Partitioner {
  private static final long serialVersionUID = 1L;

  private final int partitions;

  NumberedPartitioner(int partitions) {
    this.partitions = partitions;
  }

  @Override
  public int numPartitions() {
    return partitions;
  }

  @Override
  public int getPartition(Object key) {
    return (Integer) key;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NumberedPartitioner placed && placed.partitions == partitions;
  }

  @Override
  public int hashCode() {
    return partitions;
  }
}
