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

import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Kills a process as the kernel would when a number of reducers has ended. Used once. */
private[scenarios] final class ExecutorKiller(pid: Long, afterReducers: Int) extends SparkListener {
  private val ended = new AtomicInteger

  def fired: Boolean = ended.get >= afterReducers

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    if (event.taskType == "ResultTask" && ended.incrementAndGet() == afterReducers) {
      ProcessHandle.of(pid).ifPresent(process => process.destroyForcibly(): Unit)
    }
}
