// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.scalatest.concurrent.Eventually
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Executors that start and exit with the load. */
final class DynamicAllocationSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(1, Seconds))

  /** Long enough that no executor exits between the start of the cluster and the first job. */
  private val Idle = "4s"

  test("should continue to read while executors with tracked shuffles exit and restart") {
    val conf = Clusters
      .soft()
      .set("spark.dynamicAllocation.enabled", "true")
      .set("spark.dynamicAllocation.shuffleTracking.enabled", "true")
      .set("spark.dynamicAllocation.shuffleTracking.timeout", Idle)
      .set("spark.dynamicAllocation.executorIdleTimeout", Idle)
      .set("spark.dynamicAllocation.initialExecutors", "2")
      .set("spark.dynamicAllocation.maxExecutors", "2")
    SparkCluster.run(conf) { cluster =>
      val removed = new Removals
      cluster.sc.addSparkListener(removed)
      val reduced = Jobs.reduced(cluster.sc)
      val first = reduced.collect().sorted.toSeq
      assert(cluster.answering().rdmaBytes > 0)
      eventually(assert(removed.count > 0))
      assert(reduced.collect().sorted.toSeq === first)
      val again = Jobs.reduced(cluster.sc).collect().sorted.toSeq
      assert(again === first)
    }
  }

  private final class Removals extends SparkListener {
    private val removals = new AtomicInteger

    def count: Int = removals.get

    override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = {
      removals.incrementAndGet(): Unit
    }
  }
}
