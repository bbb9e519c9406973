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
