// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

import org.apache.spark.SparkConf
import org.apache.spark.TaskContext
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** An application that stops in the middle of a shuffle read until it is killed. It prints its
  * executors' processes and, after the first reducer, that others read.
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
    private val printed = new AtomicBoolean

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
      if (event.taskType == "ResultTask" && !printed.getAndSet(true)) {
        println("READING on")
      }
  }
}
