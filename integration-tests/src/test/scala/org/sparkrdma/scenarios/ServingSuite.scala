// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** The serving modes, and serving with little memory. */
final class ServingSuite extends ScenarioSuite {
  private val Maps = 12
  private val Reducers = 12
  private val Records = 20
  private val expected = Jobs.paddedAnswer(Maps, Reducers, Records)

  test("should copy blocks into registered memory in copy mode") {
    SparkCluster.run(Clusters.soft().set("spark.shuffle.rdma.serve", "copy")) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === expected)
      assertAllByRead(traffic)
      assert(traffic.counter("serve.pieces.copy") > 0, traffic)
      assert(traffic.counter("serve.pieces.window") === 0, traffic)
    }
  }

  test("should deliver every block with little pinned memory") {
    val conf = Clusters
      .soft()
      .set("spark.shuffle.rdma.pinned.max", "1m")
    SparkCluster.run(conf) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === expected)
      assertSameAsSpark(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def blocks(cluster: SparkCluster): Seq[(Int, Int)] =
    Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, padding = 1_024)
}
