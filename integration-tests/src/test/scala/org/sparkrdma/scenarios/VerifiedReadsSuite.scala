// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf
import org.sparkrdma.scenarios.faults.FaultJob

/** Wrong checksums, and encryption, in a cluster. Combinations of algorithms, codecs and encryption
  * are unit tests of the plug-in, and DecommissionSuite has right checksums.
  */
final class VerifiedReadsSuite extends ScenarioSuite {
  private val Job = FaultJob(maps = 8, reducers = 12, records = 40)
  private val SpillAfter = 100
  private val Unusable = "checksum-unusable"
  private val BlockId = "shuffle(Chunk)?_\\d+_\\d+_\\d+".r

  /** Fewer than one for each block that a READ brings. */
  private val LinesAtMost = 15

  private def encryptedNetwork: SparkConf =
    Clusters
      .soft()
      .set("spark.authenticate", "true")
      .set("spark.authenticate.secret", "of this test")
      .set("spark.network.crypto.enabled", "true")

  test("should not send unencrypted bytes in an application with network encryption") {
    SparkCluster.run(encryptedNetwork) { cluster =>
      val (result, traffic) = cluster.trafficOf(Jobs.groupBy(cluster.spark))
      assert(result === Jobs.groupByAnswer)
      assert(traffic.rdmaBytes === 0, traffic)
      assert(traffic.remoteBytesRead > 0, traffic)
      assertNothingRetried(cluster)
    }
  }

  // The log has nothing for each block, neither for a READ nor for one whose recorded checksum is
  // wrong, which TCP brings again.
  test("should quarantine no peer and log no block for the wrong checksums of encrypted spills") {
    // Blocks that are encrypted at rest may be read by READ where the network must be encrypted.
    val conf = encryptedNetwork.set("spark.io.encryption.enabled", "true")
    SparkCluster.run(DebugLog.setOn(merging(conf))) { cluster =>
      val lines = DebugLog.linesOf(cluster) {
        val (result, traffic) = cluster.trafficOf(Job.run(cluster.sc))
        assert(result === Job.expected)
        assert(traffic.counter("rdma.blocks.read") > LinesAtMost, traffic)
        assert(traffic.fallbacks.keySet === Set(Unusable), traffic)
        assert(traffic.counter("verify.unusable-sums") === traffic.fallbacks(Unusable), traffic)
        assert(traffic.counter("verify.unverified") === 0, traffic)
        assert(traffic.counter("verify.corrupt") === 0, traffic)
        assert(traffic.counter("peers.quarantined") === 0, traffic)
        assertSameAsSpark(traffic)
        assertNothingRetried(cluster)
      }
      assert(lines.forall(BlockId.findFirstIn(_).isEmpty), lines)
      assert(lines.size <= LinesAtMost, lines)
    }
  }

  // UnsafeShuffleWriter, which needs Kryo, with several spills in each task.
  private def merging(conf: SparkConf): SparkConf =
    conf
      .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
      .set("spark.shuffle.sort.bypassMergeThreshold", "1")
      .set("spark.shuffle.spill.numElementsForceSpillThreshold", SpillAfter.toString)
}
