/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.scenarios

/** Executors that are gone from one moment to the next. */
final class ExecutorLossSuite extends ScenarioSuite {
  private val Maps = 40
  private val Reducers = 40
  private val Records = 50
  private val KillAfter = 10

  test("should give the right answer when an executor is killed while its blocks are read") {
    SparkCluster.run(Clusters.soft()) { cluster =>
      val killer = new ExecutorKiller(cluster.processes().head._2, afterReducers = KillAfter)
      cluster.sc.addSparkListener(killer)
      assert(largeGroups(cluster) === expected)
      assert(killer.fired)
      assert(cluster.log.failedTasks > 0, "the executor was not missed")
      assert(cluster.answering().rdmaBytes > 0)
    }
  }

  private def expected: Seq[(Int, Int)] =
    Seq.fill(Reducers)(Maps * Records -> Maps * Records * (Records - 1) / 2)

  private def largeGroups(cluster: SparkCluster): Seq[(Int, Int)] =
    Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, padding = 1_024)
}
