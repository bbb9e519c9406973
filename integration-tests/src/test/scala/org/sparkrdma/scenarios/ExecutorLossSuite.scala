// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** Executors that are killed during a read. */
final class ExecutorLossSuite extends ScenarioSuite {
  private val Maps = 40
  private val Reducers = 40
  private val Records = 50
  private val KillAfter = 10

  test("should give the right answer when an executor is killed while its blocks are read") {
    SparkCluster.run(Clusters.soft()) { cluster =>
      val killer = new ExecutorKiller(cluster.processes().head._2, afterReducers = KillAfter)
      cluster.sc.addSparkListener(killer)
      assert(largeGroups(cluster) === Jobs.paddedAnswer(Maps, Reducers, Records))
      assert(killer.fired)
      assert(cluster.log.failedTasks > 0, "no task failed")
      assert(cluster.answering().rdmaBytes > 0)
    }
  }

  private def largeGroups(cluster: SparkCluster): Seq[(Int, Int)] =
    Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, padding = 1_024)
}
