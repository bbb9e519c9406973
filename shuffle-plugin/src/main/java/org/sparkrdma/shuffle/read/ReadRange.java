// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.MapOutputTracker;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/**
 * The range that a reader reads.
 *
 * @param startMapIndex first map output
 * @param endMapIndex one past the last; the largest int means all
 * @param startPartition first reduce partition
 * @param endPartition one past the last
 */
public record ReadRange(int startMapIndex, int endMapIndex, int startPartition, int endPartition) {
  /**
   * Locates the blocks, and decides whether adjacent ones are fetched as one. Asks the driver when
   * the locations are not cached; throws Spark's own exception when outputs are missing.
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
