// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.MapOutputTracker;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/**
 * What a reader is to read.
 *
 * @param startMapIndex first map output
 * @param endMapIndex one past the last; all that there are when it is the largest int
 * @param startPartition first reduce partition
 * @param endPartition one past the last
 */
public record ReadRange(int startMapIndex, int endMapIndex, int startPartition, int endPartition) {
  /**
   * Where the blocks are, and whether neighbouring ones should come as one. Asks the driver when
   * this executor does not know yet, and throws Spark's own exception when outputs are missing.
   */
  MapSizesByExecutorId locate(
      MapOutputTracker tracker, ShuffleDependency<?, ?, ?> dependency, TaskContext context) {
    boolean batch = SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context);
    int id = dependency.shuffleId();
    if (dependency.isShuffleMergeFinalizedMarked()) {
      MapSizesByExecutorId merged =
          tracker.getPushBasedShuffleMapSizesByExecutorId(
              id, startMapIndex, endMapIndex, startPartition, endPartition);
      return new MapSizesByExecutorId(merged.iter(), batch && merged.enableBatchFetch());
    }
    return new MapSizesByExecutorId(
        tracker.getMapSizesByExecutorId(
            id, startMapIndex, endMapIndex, startPartition, endPartition),
        batch);
  }
}
