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
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder

import org.apache.spark.Success
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerStageSubmitted
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Adds up what the tasks of an application report. Called on Spark's listener thread. */
private[scenarios] final class JobLog extends SparkListener {
  private val remoteBytes = new LongAdder
  private val remoteBytesToDiskOnly = new LongAdder
  private val failures = new AtomicInteger
  private val stageRetries = new AtomicInteger

  def remoteBytesRead: Long = remoteBytes.sum

  def remoteBytesReadToDisk: Long = remoteBytesToDiskOnly.sum

  def failedTasks: Int = failures.get

  def retriedStages: Int = stageRetries.get

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = {
    if (event.reason != Success) {
      failures.incrementAndGet()
    }
    Option(event.taskMetrics).foreach { metrics =>
      remoteBytes.add(metrics.shuffleReadMetrics.remoteBytesRead)
      remoteBytesToDiskOnly.add(metrics.shuffleReadMetrics.remoteBytesReadToDisk)
    }
  }

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    if (event.stageInfo.attemptNumber() > 0) {
      stageRetries.incrementAndGet()
    }
}
