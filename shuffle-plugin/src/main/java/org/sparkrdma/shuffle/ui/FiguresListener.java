// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/**
 * Takes from Spark's own events what the tab shows of them: executors that start and end, and bytes
 * that tasks read. Live and in replays. Confined to the thread of its listener queue.
 */
class FiguresListener extends SparkListener {
  private final ApplicationFigures figures;

  FiguresListener(ApplicationFigures figures) {
    this.figures = figures;
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    figures.start(added.executorId());
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    figures.remove(removed.executorId(), removed.reason());
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null && end.taskInfo() != null) {
      ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
      figures.addTask(
          end.taskInfo().executorId(),
          end.stageId(),
          read.remoteBytesRead(),
          read.localBytesRead(),
          end.taskInfo().finishTime());
    }
  }
}
