// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** The ways in which blocks are served, and how little memory does for it. */
final class ServingSuite extends ScenarioSuite {
  private val Maps = 12
  private val Reducers = 12
  private val Records = 20
  private lazy val expected = VanillaAnswers.of("serving")(blocks)

  test("should copy blocks into registered memory when files are not to be registered") {
    assert(expected.size === Reducers)
    SparkCluster.run(Clusters.soft().set("spark.shuffle.rdma.serve", "copy")) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === expected)
      assertAllByRead(traffic)
      assert(traffic.counter("serve.pieces.copy") > 0, traffic)
      assert(traffic.counter("serve.pieces.window") === 0, traffic)
    }
  }

  test("should read out of windows that are not pinned where the device pages on demand") {
    assert(expected.size === Reducers)
    SparkCluster.run(Clusters.soft().set("spark.shuffle.rdma.serve", "odp")) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === expected)
      assertAllByRead(traffic)
      assert(traffic.counter("serve.pieces.window") > 0, traffic)
      assert(traffic.counter("serve.pieces.copy") === 0, traffic)
    }
  }

  test("should bring every block when hardly any memory may be pinned") {
    assert(expected.size === Reducers)
    val conf = Clusters
      .soft()
      .set("spark.shuffle.rdma.pinned.max", "1m")
      // A tenth of it is how long a request waits for memory.
      .set("spark.shuffle.rdma.request.timeout", "5s")
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
