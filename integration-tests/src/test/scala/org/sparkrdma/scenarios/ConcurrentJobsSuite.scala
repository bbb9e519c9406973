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
    val expected = Jobs.all.map { case (name, _) => everyday(name) }
    SparkCluster.run(Clusters.soft(CoresEach)) { cluster =>
      val (results, traffic) = cluster.trafficOf(allAtOnce(cluster))
      results.foreach(result => assert(result === expected))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def allAtOnce(cluster: SparkCluster): Seq[Seq[Any]] = {
    val threads = Executors.newFixedThreadPool(Threads)
    try {
      val round: Callable[Seq[Any]] = () => Jobs.all.map { case (_, job) => job(cluster.spark) }
      threads.invokeAll(Seq.fill(Threads)(round).asJava).asScala.map(_.get()).toSeq
    } finally {
      threads.shutdownNow()
      threads.awaitTermination(1, TimeUnit.MINUTES)
    }
  }
}
