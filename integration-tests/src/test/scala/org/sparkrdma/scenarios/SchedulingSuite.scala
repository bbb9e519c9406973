// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

import org.apache.spark.SparkContext
import org.apache.spark.TaskContext
import org.apache.spark.TaskKilledException
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerSpeculativeTaskSubmitted

/** Speculative tasks. */
final class SchedulingSuite extends ScenarioSuite {
  private val Pause = 1_000_000L

  test(
    "should return the same result when a speculative copy of a reading task runs on another host"
  ) {
    val conf = Clusters
      .soft(coresEach = 2)
      .set("spark.speculation", "true")
      .set("spark.speculation.interval", "100ms")
      .set("spark.speculation.minTaskRuntime", "100ms")
      .set("spark.speculation.quantile", "0.5")
      .set("spark.speculation.multiplier", "1.1")
    SparkCluster.runOnTwoHosts(conf, coresEach = 2) { cluster =>
      val copies = new Copies
      cluster.sc.addSparkListener(copies)
      val (result, traffic) = cluster.trafficOf(oneStuckReader(cluster.sc))
      assert(result.toSet === Jobs.reducedAnswer)
      assert(copies.count > 0)
      assert(traffic.rdmaBytes > 0, traffic)
      assert(traffic.fallbacks.isEmpty, traffic)
      assert(cluster.log.retriedStages === 0)
    }
  }

  /** The first attempt of a partition reads one record and then waits until it is killed. */
  private def oneStuckReader(sc: SparkContext): Seq[(Int, Long)] = {
    val pause = Pause
    Jobs
      .reduced(sc)
      .mapPartitions { fetched =>
        val task = TaskContext.get()
        val first = fetched.next()
        while (task.partitionId() == 0 && task.attemptNumber() == 0) {
          LockSupport.parkNanos(pause)
          if (task.isInterrupted()) {
            throw new TaskKilledException
          }
        }
        Iterator(first) ++ fetched
      }
      .collect()
      .toSeq
  }

  private final class Copies extends SparkListener {
    private val submitted = new AtomicInteger

    def count: Int = submitted.get

    override def onSpeculativeTaskSubmitted(event: SparkListenerSpeculativeTaskSubmitted): Unit = {
      submitted.incrementAndGet(): Unit
    }
  }
}
