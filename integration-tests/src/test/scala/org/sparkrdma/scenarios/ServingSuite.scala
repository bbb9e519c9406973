// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.sparkrdma.scenarios.faults.FaultJob

/** Serving with little memory, and what is registered at the end of shuffles and executors. */
final class ServingSuite extends ScenarioSuite {
  test("should deliver every block with little pinned memory") {
    val conf = Clusters.soft().set("spark.shuffle.rdma.pinned.max", "1m")
    SparkCluster.run(conf) { cluster =>
      val (result, traffic) = cluster.trafficOf(FaultJob.Usual.run(cluster.sc))
      assert(result === FaultJob.Usual.expected)
      assertSameAsSpark(traffic)
      assertNothingRetried(cluster)
    }
  }

  test("should release registered files with their shuffle and all else with the application") {
    // Windows only: small blocks that are read rarely would be copied, not registered.
    val conf = Clusters.soft().set("spark.shuffle.rdma.serve", "window")
    val ended = SparkCluster.run(conf) { cluster =>
      val pids = cluster.processes().values
      val kept = Jobs.reduced(cluster.sc)
      kept.count()
      val ofKept = SharedFiles.registered(pids)
      assert(ofKept > 0)
      val dropped = Jobs.reduced(cluster.sc)
      dropped.count()
      assert(SharedFiles.registered(pids) > ofKept)
      SparkInternals.removeShuffle(cluster.sc, Jobs.shuffleId(dropped))
      eventually(assert(SharedFiles.registered(pids) === ofKept))
      val (_, traffic) = cluster.trafficOf(kept.count())
      assertAllByRead(traffic)
      assert(SharedFiles.leftOf(pids).nonEmpty)
      pids
    }
    eventually(assert(SharedFiles.leftOf(ended) === Nil))
  }
}
