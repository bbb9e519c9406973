// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui.figures;

/**
 * Shuffle bytes that the tasks of a stage have read.
 *
 * @param stageId Spark's id of the stage
 * @param remote from other executors, from Spark's own metrics of tasks that have ended
 * @param local from the executor's own disks, from the same metrics
 * @param received from other executors by path, as executors have reported; local is 0
 */
public record StageBytes(int stageId, long remote, long local, BytesByPath received) {
  StageBytes plus(StageBytes other) {
    return new StageBytes(
        stageId, remote + other.remote, local + other.local, received.plus(other.received));
  }

  /** Whether an executor has reported bytes of it. */
  public boolean isReported() {
    return received.highest() > 0;
  }
}
