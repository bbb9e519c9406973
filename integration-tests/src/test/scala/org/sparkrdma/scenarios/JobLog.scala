// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder

import org.apache.spark.Success
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerStageSubmitted
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Sums the metrics of an application's tasks. Called on Spark's listener thread. */
private[scenarios] class JobLog extends SparkListener {
  private val remoteBytes = new LongAdder
  private val failures = new AtomicInteger
  private val stageRetries = new AtomicInteger

  def remoteBytesRead: Long = remoteBytes.sum

  def failedTasks: Int = failures.get

  def retriedStages: Int = stageRetries.get

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
    if (event.reason != Success) {
      failures.incrementAndGet()
    }
    Option(event.taskMetrics).foreach { metrics =>
      remoteBytes.add(metrics.shuffleReadMetrics.remoteBytesRead)
    }
  }

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    if (event.stageInfo.attemptNumber() > 0) {
      stageRetries.incrementAndGet()
    }
}
