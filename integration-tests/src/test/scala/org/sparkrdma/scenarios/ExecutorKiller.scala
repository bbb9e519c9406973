// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Ends an executor's process after a number of reducers has ended. Used once.
  *
  * @param signal
  *   how to end it: by default as the kernel would, with SIGKILL
  */
private[scenarios] final class ExecutorKiller(
    pid: Long,
    afterReducers: Int,
    signal: ProcessHandle => Boolean = _.destroyForcibly()
) extends SparkListener {
  private val ended = new AtomicInteger

  def fired: Boolean = ended.get >= afterReducers

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    if (event.taskType == "ResultTask" && ended.incrementAndGet() == afterReducers) {
      ProcessHandle.of(pid).ifPresent(process => signal(process): Unit)
    }
}
