// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.Future
import scala.concurrent.duration.Duration

import org.apache.spark.SparkConf
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerExecutorAdded
import org.apache.spark.scheduler.SparkListenerExecutorRemoved
import org.apache.spark.scheduler.SparkListenerTaskEnd
import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Executors that start and exit with the load. */
final class DynamicAllocationSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(200, Millis))

  /** Long enough that no executor exits between the start of the cluster and the first job. */
  private val Idle = "4s"

  private val BoundSeconds = 60

  /** One executor is busy with a long read. The other one starts for a second job, reads the blocks
    * of the busy one, exits, and takes its own map outputs with it.
    */
  test("should give the vanilla answer while executors start and exit under load") {
    val expected = VanillaAnswers.reduced
    val single = conf().set("spark.dynamicAllocation.minExecutors", "1")
    SparkCluster.run(single) { cluster =>
      val changes = new Changes
      cluster.sc.addSparkListener(changes)
      eventually(assert(changes.removed === 1))
      val kept = Jobs.reduced(cluster.sc)
      val first = kept.collect().toSet
      val end = Files.createTempFile("load", ".end")
      Files.delete(end)
      val load = Future(DynamicAllocationSuite.heldRead(kept, end.toString))
      val beginNs = System.nanoTime()
      val second = Jobs.reduced(cluster.sc)
      val underLoad = eventually {
        // The new executor reads by TCP until it has started RDMA.
        val answer = (kept.collect() ++ second.collect()).toSet
        assert(changes.added >= 1)
        assert(cluster.answering().rdmaBytes > 0)
        answer
      }
      eventually(assert(changes.removed >= 2))
      assert(!load.isCompleted, "the executor exited without load")
      Files.createFile(end)
      val held = Await.result(load, Duration(60, "s")).toSet
      SparkInternals.drainListeners(cluster.sc)
      val mapTasksBefore = changes.mapTasks
      val recomputed = second.collect().toSet
      val seconds = (System.nanoTime() - beginNs) / 1e9
      val answers = Seq(first, underLoad, held, recomputed)
      answers.foreach(answer => assert(answer === expected))
      assert(seconds < BoundSeconds)
      SparkInternals.drainListeners(cluster.sc)
      assert(changes.mapTasks > mapTasksBefore, "no map output was recomputed")
    }
  }

  private def conf(): SparkConf =
    Clusters
      .soft()
      .set("spark.dynamicAllocation.enabled", "true")
      .set("spark.dynamicAllocation.shuffleTracking.enabled", "true")
      .set("spark.dynamicAllocation.shuffleTracking.timeout", Idle)
      .set("spark.dynamicAllocation.executorIdleTimeout", Idle)
      .set("spark.dynamicAllocation.initialExecutors", "2")
      .set("spark.dynamicAllocation.maxExecutors", "2")

  /** Executors, and map tasks that have ended, since this was added. */
  private final class Changes extends SparkListener {
    private val additions = new AtomicInteger
    private val removals = new AtomicInteger
    private val maps = new AtomicInteger

    def added: Int = additions.get

    def removed: Int = removals.get

    def mapTasks: Int = maps.get

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
      if (event.taskType == "ShuffleMapTask") {
        maps.incrementAndGet(): Unit
      }

    override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit = {
      additions.incrementAndGet(): Unit
    }

    override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit = {
      removals.incrementAndGet(): Unit
    }
  }
}

private object DynamicAllocationSuite {
  private val PauseNs = 10_000_000L

  /** Reads a shuffle in one task that stops after the first record until the file exists. */
  def heldRead(shuffled: RDD[(Int, Long)], end: String): Seq[(Int, Long)] = {
    val pauseNs = PauseNs
    shuffled
      .coalesce(1)
      .mapPartitions { fetched =>
        val first = fetched.next()
        while (!Files.exists(Path.of(end))) {
          LockSupport.parkNanos(pauseNs)
        }
        Iterator(first) ++ fetched
      }
      .collect()
      .toSeq
  }
}
