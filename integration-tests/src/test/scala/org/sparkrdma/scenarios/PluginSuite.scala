// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf
import org.scalatest.concurrent.Eventually
import org.scalatest.time.Seconds
import org.scalatest.time.Span
import org.sparkrdma.suites.ReadCounts

/** The plug-in by `spark.plugins` alone: with Spark's manager, and beside another one. */
final class PluginSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(60, Seconds), interval = Span(1, Seconds))

  private val Stub = "org.sparkrdma.scenarios.StubManager"

  test("should fetch by READ for another manager's reader, and release what it no longer reads") {
    // Before the cluster, because this may start one of its own.
    val expected = VanillaAnswers.everyday
    val conf = byPlugin()
      .set("spark.shuffle.manager", Stub)
      .set("spark.shuffle.rdma.serve", "window")
      .set("spark.shuffle.rdma.idle.timeout", "2s")
    SparkCluster.run(conf) { cluster =>
      assertAnswers(cluster, expected, Seq("groupBy", "repartition", "coalesced SQL aggregation"))
      val managers = cluster.onEveryExecutor(PluginSuite.manager).values.toSet
      assert(managers === Set(Stub))
      val pids = cluster.processes().values
      // Removed shuffles do not reach the plug-in; what it registered ends by its idle time-out.
      eventually(assert(SharedFiles.registered(pids) === 0))
      assertAnswers(cluster, expected, Seq("groupBy"))
    }
  }

  private def byPlugin(): SparkConf =
    Clusters
      .soft()
      .remove("spark.shuffle.manager")
      .set("spark.plugins", ReadCounts.WITH_CHECKS + ",org.sparkrdma.shuffle.RdmaPlugin")

  private def assertAnswers(
      cluster: SparkCluster,
      expected: Map[String, Any],
      names: Seq[String]
  ): Unit =
    Jobs.all.filter(job => names.contains(job._1)).foreach { case (name, job) =>
      val (result, traffic) = cluster.trafficOf(job(cluster.spark))
      assert(result === expected(name), name)
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
}

private object PluginSuite {

  /** The shuffle manager of an executor. */
  val manager: () => String = () => SparkInternals.shuffleManager()
}
