// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf

/** Checksums in a cluster: every algorithm, none, and wrong ones. Combinations of codecs and
  * encryption are unit tests of the plug-in.
  */
final class VerifiedReadsSuite extends ScenarioSuite {
  private val Maps = 8
  private val Reducers = 12
  private val Records = 40
  private val SpillAfter = 100
  private val Unusable = "checksum-unusable"
  private val BlockId = "shuffle(Chunk)?_\\d+_\\d+_\\d+".r

  /** Fewer than one for each block that a READ brings. */
  private val LinesAtMost = 15
  private val expected = Jobs.paddedAnswer(Maps, Reducers, Records)

  test("should verify every block against CRC32C checksums") {
    val conf = Clusters.soft().set("spark.shuffle.checksum.algorithm", "CRC32C")
    SparkCluster.run(merging(conf)) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === expected)
      assertAllByRead(traffic)
      assert(traffic.counter("verify.blocks") === traffic.counter("rdma.blocks.read"), traffic)
      assertNoPeerQuarantined(traffic)
      assertNothingRetried(cluster)
    }
  }

  // The log has nothing for each block, neither for a READ nor for one whose recorded checksum is
  // wrong, which TCP brings again.
  test("should quarantine no peer and log no block for the wrong checksums of encrypted spills") {
    // Blocks that are encrypted at rest may be read by READ where the network must be encrypted.
    val conf = Clusters
      .soft()
      .set("spark.io.encryption.enabled", "true")
      .set("spark.authenticate", "true")
      .set("spark.authenticate.secret", "of this test")
      .set("spark.network.crypto.enabled", "true")
    SparkCluster.run(DebugLog.setOn(merging(conf))) { cluster =>
      val lines = DebugLog.linesOf(cluster) {
        val (result, traffic) = cluster.trafficOf(blocks(cluster))
        assert(result === expected)
        assert(traffic.counter("rdma.blocks.read") > LinesAtMost, traffic)
        assert(traffic.fallbacks.keySet === Set(Unusable), traffic)
        assert(traffic.counter("verify.unusable-sums") === traffic.fallbacks(Unusable), traffic)
        assertNoPeerQuarantined(traffic)
        assertSameAsSpark(traffic)
        assertNothingRetried(cluster)
      }
      assert(lines.forall(BlockId.findFirstIn(_).isEmpty), lines)
      assert(lines.size <= LinesAtMost, lines)
    }
  }

  private def assertNoPeerQuarantined(traffic: Traffic): Unit = {
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
