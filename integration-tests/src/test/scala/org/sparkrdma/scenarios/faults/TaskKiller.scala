// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.SparkContext
import org.apache.spark.TaskKilled
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.apache.spark.scheduler.SparkListenerTaskStart

/** Kills the first attempt of each task that reads a shuffle, once it has begun to. */
private[faults] final class TaskKiller(sc: SparkContext) extends SparkListener {
  private val AfterMs = 200L
  private val dead = new AtomicInteger
  private val later = CompletableFuture.delayedExecutor(AfterMs, TimeUnit.MILLISECONDS)

  def killed: Int = dead.get

  override def onTaskStart(event: SparkListenerTaskStart): Unit =
    if (event.taskInfo.attemptNumber == 0) {
      val task = event.taskInfo.taskId
      later.execute(() => sc.killTaskAttempt(task, interruptThread = true, "of this test"): Unit)
    }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    if (event.reason.isInstanceOf[TaskKilled] && event.taskType == "ResultTask") {
      dead.incrementAndGet(): Unit
    }
}
