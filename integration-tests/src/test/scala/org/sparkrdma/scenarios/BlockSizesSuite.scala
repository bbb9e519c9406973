// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf

/** Extreme block sizes: very many tiny blocks, and one longer than 32-bit lengths. */
final class BlockSizesSuite extends ScenarioSuite {
  for (side <- Seq(300, 1_000)) {
    test(s"should read $side x $side small blocks") {
      val expected =
        VanillaAnswers.of(s"small-blocks-$side")(c => Jobs.smallBlocks(c.sc, side, side))
      SparkCluster.run(Clusters.soft()) { cluster =>
        val (result, traffic) = cluster.trafficOf(Jobs.smallBlocks(cluster.sc, side, side))
        assert(result === expected)
        assertAllByRead(traffic)
        assertNothingRetried(cluster)
      }
    }
  }

  test("should read one block of 2.5 GiB to disk") {
    def read(cluster: SparkCluster) = {
      val (writer, reader) = LargeBlock.locations(cluster.sc)
      cluster.trafficOf(LargeBlock.read(cluster.sc, writer, reader))
    }
    val expected = VanillaAnswers.of("large-block", uncompressed(Clusters.vanilla()))(read(_)._1)
    SparkCluster.run(uncompressed(Clusters.soft())) { cluster =>
      val (result, traffic) = read(cluster)
      assert(result === expected)
      assertAllByRead(traffic)
      assert(traffic.remoteBytesRead > LargeBlock.Bytes)
      assert(cluster.log.remoteBytesReadToDisk === traffic.remoteBytesRead)
      assertNothingRetried(cluster)
    }
  }

  private def uncompressed(conf: SparkConf): SparkConf = conf.set("spark.shuffle.compress", "false")
}
