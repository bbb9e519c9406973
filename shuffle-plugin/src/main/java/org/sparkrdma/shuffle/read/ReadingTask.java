// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.TaskContext;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.StageReads;

/**
 * The task that requests blocks.
 *
 * @param reader as in {@link FetchHandler#reader}
 * @param stage as in {@link StageReads}
 */
record ReadingTask(long reader, int stage) {
  /** The task of the calling thread, if it runs one. */
  static ReadingTask current() {
    TaskContext task = TaskContext.get();
    return task == null
        ? new ReadingTask(FetchHandler.NO_READER, StageReads.NO_STAGE)
        : new ReadingTask(task.taskAttemptId(), task.stageId());
  }

  /** The calling thread if it runs a task, else null. */
  static Thread threadHere() {
    return TaskContext.get() == null ? null : Thread.currentThread();
  }
}
