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
