// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

/**
 * Shuffle bytes that the tasks of a stage have read, from Spark's own task metrics.
 *
 * @param stageId Spark's id of the stage
 * @param remote from other executors
 * @param local from the executor's own disks
 */
public record StageBytes(int stageId, long remote, long local) {
  StageBytes plus(long moreRemote, long moreLocal) {
    return new StageBytes(stageId, remote + moreRemote, local + moreLocal);
  }
}
