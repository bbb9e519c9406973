// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.soak.jobs;

import org.apache.spark.Partitioner;

/** Partitioner for keys that are partition numbers. Equal if the number of partitions is. */
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
