// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf

/** Checksums as a cluster meets them: of every kind, none, and wrong ones. The cells of codecs and
  * encryption are among the plug-in's own tests.
  */
final class VerifiedReadsSuite extends ScenarioSuite {
  private val Maps = 8
  private val Reducers = 12
  private val Records = 40
  private val SpillAfter = 100
  private val Unusable = "checksum-unusable"
  private lazy val expected = VanillaAnswers.of("verified-reads")(blocks)

  for (algorithm <- Seq("CRC32", "CRC32C")) {
    test(s"should verify every block against sums of $algorithm") {
      assertVerified(Clusters.soft().set("spark.shuffle.checksum.algorithm", algorithm))
    }
  }

  test("should verify every block although Spark records no sums") {
    assertVerified(Clusters.soft().set("spark.shuffle.checksum.enabled", "false"))
  }

  test("should blame nobody for the wrong sums of encrypted spills") {
    val wanted = expected
    SparkCluster.run(merging(Clusters.soft().set("spark.io.encryption.enabled", "true"))) {
      cluster =>
        val (result, traffic) = cluster.trafficOf(blocks(cluster))
        assert(result === wanted)
        assert(traffic.fallbacks.keySet === Set(Unusable), traffic)
        assert(traffic.counter("verify.unusable-sums") === traffic.fallbacks(Unusable), traffic)
        assertNobodyBlamed(traffic)
        assertSameAsSpark(traffic)
        assertNothingRetried(cluster)
    }
  }

  private def assertVerified(conf: SparkConf): Unit = {
    val wanted = expected
    SparkCluster.run(merging(conf)) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === wanted)
      assertAllByRead(traffic)
      assert(traffic.counter("verify.blocks") === traffic.counter("rdma.blocks.read"), traffic)
      assertNobodyBlamed(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def assertNobodyBlamed(traffic: Traffic): Unit = {
    assert(traffic.counter("verify.unverified") === 0, traffic)
    assert(traffic.counter("verify.corrupt") === 0, traffic)
    assert(traffic.counter("peers.quarantined") === 0, traffic)
  }

  // UnsafeShuffleWriter, which needs Kryo, with several spills in each task.
  private def merging(conf: SparkConf): SparkConf =
    conf
      .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
      .set("spark.shuffle.sort.bypassMergeThreshold", "1")
      .set("spark.shuffle.spill.numElementsForceSpillThreshold", SpillAfter.toString)

  private def blocks(cluster: SparkCluster): Seq[(Int, Int)] =
    Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, padding = 512)
}
