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

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

import org.apache.spark.SparkConf
import org.apache.spark.TaskContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** An application that stays in the middle of reading a shuffle until it is killed. It says on
  * which processes its executors are and, when a first reducer has ended, that others read.
  */
object HeldJob {
  private val Pause = 1_000_000L

  def main(arguments: Array[String]): Unit = {
    val cluster = SparkCluster.start(new SparkConf(), cores = 1)
    println("EXECUTORS " + cluster.processes().values.mkString(" "))
    cluster.sc.addSparkListener(new FirstReducer)
    val pause = Pause
    Jobs
      .reduced(cluster.sc)
      .mapPartitions { fetched =>
        val first = fetched.next()
        while (TaskContext.getPartitionId() != 0) {
          LockSupport.parkNanos(pause)
        }
        Iterator(first) ++ fetched
      }
      .count(): Unit
  }

  private final class FirstReducer extends SparkListener {
    private val told = new AtomicBoolean

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
      if (event.taskType == "ResultTask" && !told.getAndSet(true)) {
        println("READING on")
      }
  }
}
