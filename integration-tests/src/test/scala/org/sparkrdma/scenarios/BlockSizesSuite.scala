// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** Very many tiny blocks; with more reducers than `spark.shuffle.sort.bypassMergeThreshold`, else a
  * map task writes a file for each block first.
  */
final class BlockSizesSuite extends ScenarioSuite {
  for ((side, tags) <- Seq(220 -> Nil, 1_000 -> Seq(Nightly))) {
    test(s"should read $side x $side small blocks", tags: _*) {
      val expected = Seq.fill(side)(side -> side * (side - 1) / 2)
      SparkCluster.run(Clusters.soft()) { cluster =>
        val (result, traffic) = cluster.trafficOf(Jobs.smallBlocks(cluster.sc, side, side))
        assert(result === expected)
        assertAllByRead(traffic)
        assertNothingRetried(cluster)
      }
    }
  }
}
