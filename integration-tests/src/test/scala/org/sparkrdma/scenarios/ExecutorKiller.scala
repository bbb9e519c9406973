// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Kills a process with SIGKILL after a number of reducers has ended. Used once. */
private[scenarios] final class ExecutorKiller(pid: Long, afterReducers: Int) extends SparkListener {
  private val ended = new AtomicInteger

  def fired: Boolean = ended.get >= afterReducers

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    if (event.taskType == "ResultTask" && ended.incrementAndGet() == afterReducers) {
      ProcessHandle.of(pid).ifPresent(process => process.destroyForcibly(): Unit)
    }
}
