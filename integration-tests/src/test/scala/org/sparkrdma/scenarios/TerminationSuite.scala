// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.hadoop.util.ShutdownHookManager
import org.apache.spark.FetchFailed
import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** Executors that end by SIGTERM, as a preempted container does, while they fetch and serve. Their
  * tasks run on as long as the JVM's shutdown hooks do. A block that they cannot fetch then makes
  * Spark discard the map outputs of the executor it lies on, which is healthy.
  *
  * Each ending of the plug-in is compared with the same ending of Spark's own shuffle.
  */
final class TerminationSuite extends ScenarioSuite {
  private val Maps = 16
  private val Reducers = 24
  private val Records = 40
  private val Padding = 1_024
  private val KillAfter = 4

  private lazy val vanilla = failuresOfHealthy(Clusters.vanilla())

  test(
    "should fail no fetch from a healthy executor when one ends by SIGTERM and its hooks take long"
  ) {
    compare("slow hooks", faults = "")
  }

  test("should fail no fetch from a healthy executor when hooks and READs take long") {
    compare("slow hooks and READs", faults = "delay@1+:40ms")
  }

  test("should fail no fetch from a healthy executor when hooks take long and READs hang") {
    compare("slow hooks and hanging READs", faults = "hang@20+")
  }

  private def compare(ending: String, faults: String): Unit = {
    val soft = Clusters
      .soft()
      .set("spark.shuffle.rdma.request.timeout", "2s")
      .set("spark.shuffle.rdma.peer.timeout", "2s")
      .set("spark.shuffle.rdma.soft.faults", faults)
    val failures = failuresOfHealthy(soft)
    info(s"$ending: FetchFailed events that name a healthy executor: $failures, vanilla: $vanilla")
    assert(failures <= vanilla)
  }

  /** Many small requests one after the other, so that some are made while the JVM ends. */
  private def manyRequests(conf: SparkConf): SparkConf =
    conf
      .set("spark.reducer.maxSizeInFlight", "48k")
      .set("spark.reducer.maxReqsInFlight", "1")
      .set("spark.reducer.maxBlocksInFlightPerAddress", "1")

  /** Runs the job, ends one executor in it, checks the answer, and counts. */
  private def failuresOfHealthy(conf: SparkConf): Int =
    SparkCluster.run(manyRequests(conf)) { cluster =>
      cluster.onEveryExecutor(() => TerminationSuite.delayEnd()): Unit
      val (ended, pid) = cluster.processes().head
      val killer = new ExecutorKiller(pid, KillAfter, _.destroy())
      val failures = new FetchFailures
      cluster.sc.addSparkListener(killer)
      cluster.sc.addSparkListener(failures)
      val answer = Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, Padding)
      assert(answer === Seq.fill(Reducers)(Maps * Records -> Maps * Records * (Records - 1) / 2))
      assert(killer.fired)
      SparkInternals.drainListeners(cluster.sc)
      failures.executors.count(_ != ended)
    }

  /** Executors that failed fetches named. Called on Spark's listener thread. */
  private final class FetchFailures extends SparkListener {
    private val named = new ConcurrentLinkedQueue[String]

    def executors: Seq[String] = named.asScala.toSeq

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit = event.reason match {
      case failed: FetchFailed => Option(failed.bmAddress).foreach(at => named.add(at.executorId))
      case _                   =>
    }
  }
}

private object TerminationSuite {
  private val EndSeconds = 4L

  /** Before Spark's own hooks, which have the priority 50 at most. */
  private val Priority = 1_000

  /** Tasks of this JVM run on for some seconds when it ends. */
  def delayEnd(): Unit =
    ShutdownHookManager
      .get()
      .addShutdownHook(() => TimeUnit.SECONDS.sleep(EndSeconds), Priority)
}
