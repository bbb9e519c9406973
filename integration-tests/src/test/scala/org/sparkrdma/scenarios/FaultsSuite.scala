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

import org.apache.spark.SparkConf

/** One fault for each step of a block's way: the blocks come all the same, and nothing is retried.
  */
final class FaultsSuite extends ScenarioSuite {
  private val Maps = 12
  private val Reducers = 12
  private val Records = 20
  private lazy val expected = SparkCluster.run(Clusters.vanilla())(blocks)

  private val Timeout = "1s"

  // Both executors share a connection and each has the plan, so it may break twice: lost-peer.
  private val faults = Seq(
    Fault("a READ fails", "read-error@1", must = Set("read-error"), may = Set("lost-peer")),
    Fault(
      "many READs fail",
      "read-error%0.3,seed=7",
      must = Set("read-error"),
      may = Set("lost-peer")
    ),
    Fault("a READ brings a flipped bit", "flip-bit@1", must = Set("corrupt")),
    Fault(
      "a READ hangs",
      "hang@1",
      must = Set("timeout"),
      may = Set("quarantined", "lost-peer"),
      settings = Map("request.timeout" -> Timeout)
    ),
    Fault("a READ is slow", "delay@1:500ms"),
    Fault(
      "a READ ends after its deadline",
      "delay@1:3s",
      must = Set("timeout"),
      may = Set("quarantined", "lost-peer"),
      settings = Map("request.timeout" -> Timeout)
    ),
    Fault("a connection is lost once", "drop-connection@20", may = Set("lost-peer")),
    Fault(
      "every connection is lost",
      "drop-connection@1+",
      must = Set("lost-peer"),
      may = Set("quarantined")
    ),
    Fault("a message cannot be sent", "send-error@1", may = Set("lost-peer")),
    Fault(
      "a message never arrives",
      "send-hang@1",
      must = Set("timeout"),
      may = Set("quarantined", "lost-peer"),
      settings = Map("request.timeout" -> Timeout)
    ),
    Fault(
      "every connection is refused",
      "refuse-connect@1+",
      must = Set("connect-failed"),
      may = Set("quarantined")
    ),
    Fault(
      "no connection is answered",
      "hang-connect@1+",
      must = Set("connect-failed"),
      may = Set("quarantined"),
      settings = Map("connect.timeout" -> Timeout)
    ),
    Fault(
      "some memory cannot be registered",
      "register-error%0.3,seed=11",
      may = Set("peer-busy", "pool-empty")
    )
  )

  for (fault <- faults) {
    test(s"should bring every block, and retry nothing, when ${fault.name}") {
      assert(expected.size === Reducers)
      SparkCluster.run(underFault(fault)) { cluster =>
        val (result, traffic) = cluster.trafficOf(blocks(cluster))
        assert(result === expected)
        assertSameAsSpark(traffic)
        assertNothingRetried(cluster)
        val reasons = traffic.fallbacks.keySet
        assert(fault.must.subsetOf(reasons), traffic)
        assert(reasons.subsetOf(fault.must ++ fault.may), traffic)
        if (fault.costsNothing) {
          assertAllByRead(traffic)
        }
      }
    }
  }

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

  test("should bring every block when hardly any memory may be pinned") {
    assert(expected.size === Reducers)
    SparkCluster.run(Clusters.soft().set("spark.shuffle.rdma.pinned.max", "1m")) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === expected)
      assertSameAsSpark(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def underFault(fault: Fault): SparkConf =
    fault.settings.foldLeft(Clusters.soft().set("spark.shuffle.rdma.soft.faults", fault.plan)) {
      case (conf, (name, value)) => conf.set(s"spark.shuffle.rdma.$name", value)
    }

  private def blocks(cluster: SparkCluster): Seq[(Int, Int)] =
    Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, padding = 1_024)
}
