// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.util.concurrent.Callable
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

/** Concurrent jobs of several threads on the same executors. */
final class ConcurrentJobsSuite extends ScenarioSuite {
  private val Threads = 4
  private val CoresEach = 2

  test("should serve the jobs of several threads at once") {
    val everyday = VanillaAnswers.everyday
    SparkCluster.run(Clusters.soft(CoresEach)) { cluster =>
      val (results, traffic) = cluster.trafficOf(allAtOnce(cluster))
      results.foreach { case (name, result) => assert(result === everyday(name), name) }
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  /** Each thread runs half of the jobs, another half than the thread before it. */
  private def allAtOnce(cluster: SparkCluster): Seq[(String, Any)] = {
    val threads = Executors.newFixedThreadPool(Threads)
    try {
      val rounds = (0 until Threads).map { thread =>
        val half = Jobs.all.zipWithIndex.collect { case (job, i) if i % 2 == thread % 2 => job }
        val round: Callable[Seq[(String, Any)]] =
          () => half.map { case (name, job) => name -> job(cluster.spark) }
        round
      }
      threads.invokeAll(rounds.asJava).asScala.flatMap(_.get()).toSeq
    } finally {
      threads.shutdownNow()
      threads.awaitTermination(1, TimeUnit.MINUTES)
    }
  }
}
