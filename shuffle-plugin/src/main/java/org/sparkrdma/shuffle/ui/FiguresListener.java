// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.ui;

import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.sparkrdma.shuffle.figures.ApplicationFigures;

/**
 * Takes from Spark's own events what the tab shows of them: executors that start, and bytes that
 * tasks read. Live and in replays. Called by the thread of its listener queue; steps of others may
 * be guarded by any thread.
 */
class FiguresListener extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(FiguresListener.class);

  final ApplicationFigures figures;
  private final boolean told;
  private volatile boolean broken;

  /**
   * @param figures to fill
   * @param told whether a WARN has said that this Spark lacks methods or fields that the tab uses
   */
  FiguresListener(ApplicationFigures figures, boolean told) {
    this.figures = figures;
    this.told = told;
  }

  /**
   * Runs a step; after one that fails nothing runs any more. A version of Spark that is not known
   * may cause a LinkageError.
   */
  final void guarded(Runnable step) {
    if (broken) {
      return;
    }
    try {
      step.run();
    } catch (RuntimeException | LinkageError e) {
      broken = true;
      LOG.atLevel(told ? Level.DEBUG : Level.WARN)
          .setCause(e)
          .log(
              "The tab of the RDMA shuffle is not updated any more; logs of executors have its"
                  + " figures");
    }
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    guarded(() -> figures.start(added.executorId(), added.executorInfo().executorHost()));
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    guarded(() -> addTask(end));
  }

  private void addTask(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null && end.taskInfo() != null) {
      ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
      String executorId = end.taskInfo().executorId();
      figures.addTask(executorId, end.stageId(), read.remoteBytesRead(), read.localBytesRead());
    }
  }
}
