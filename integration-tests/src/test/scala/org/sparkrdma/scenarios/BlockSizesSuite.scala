// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** Very many tiny blocks. */
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
}
