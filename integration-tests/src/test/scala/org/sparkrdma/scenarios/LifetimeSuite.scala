// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.scalatest.concurrent.Eventually
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Registered files are released with their shuffle, everything else with its executor. */
final class LifetimeSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(30, Seconds), interval = Span(1, Seconds))

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
