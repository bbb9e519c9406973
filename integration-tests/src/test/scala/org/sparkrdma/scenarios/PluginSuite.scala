// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.sparkrdma.scenarios.faults.FaultJob
import org.sparkrdma.suites.ReadCounts

/** The plug-in by `spark.plugins` beside another manager. */
final class PluginSuite extends ScenarioSuite {
  private val Stub = "org.sparkrdma.scenarios.StubManager"

  test("should fetch by READ for another manager's reader, and release what it no longer reads") {
    val conf = Clusters
      .soft()
      .set("spark.plugins", ReadCounts.WITH_CHECKS + ",org.sparkrdma.shuffle.RdmaPlugin")
      .set("spark.shuffle.manager", Stub)
      .set("spark.shuffle.rdma.serve", "window")
      .set("spark.shuffle.rdma.idle.timeout", "2s")
    SparkCluster.run(conf) { cluster =>
      // Through Spark's reader, the manager's own one, and batches.
      assertAnswer(cluster, Jobs.groupBy(cluster.spark), Jobs.groupByAnswer)
      assertAnswer(cluster, FaultJob.Usual.run(cluster.sc), FaultJob.Usual.expected)
      assertAnswer(cluster, Jobs.coalescedAggregation(cluster.spark), Jobs.coalescedAnswer)
      val managers = cluster.onEveryExecutor(() => SparkInternals.shuffleManager()).values.toSet
      assert(managers === Set(Stub))
      val pids = cluster.processes().values
      // Removed shuffles do not reach the plug-in; what it registered ends by its idle time-out.
      eventually(assert(SharedFiles.registered(pids) === 0))
      assertAnswer(cluster, Jobs.groupBy(cluster.spark), Jobs.groupByAnswer)
    }
  }

  private def assertAnswer(cluster: SparkCluster, job: => Any, expected: Any): Unit = {
    val (result, traffic) = cluster.trafficOf(job)
    assert(result === expected)
    assertAllByRead(traffic)
    assertNothingRetried(cluster)
  }
}
