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
  private val Expected = Seq.fill(Reducers)(Maps * Records -> Maps * Records * (Records - 1) / 2)

  private val Short = "1s"

  for (
    fault <- Seq(
      Fault("a READ fails", "read-error@1", Set("read-error")),
      Fault("many READs fail", "read-error%0.3,seed=7", Set("read-error", "lost-peer")),
      Fault("a READ brings a flipped bit", "flip-bit@1", Set("corrupt")),
      Fault(
        "a READ hangs",
        "hang@1",
        Set("timeout", "quarantined"),
        "request.timeout" -> Short
      ),
      Fault("a READ is slow", "delay@1:500ms", Set.empty),
      Fault(
        "a READ ends after its deadline",
        "delay@1:3s",
        Set("timeout", "quarantined"),
        "request.timeout" -> Short
      ),
      Fault("a connection is lost once", "drop-connection@1", Set.empty),
      Fault("every connection is lost", "drop-connection@1+", Set("lost-peer")),
      Fault("a message cannot be sent", "send-error@1", Set("lost-peer", "read-error")),
      Fault(
        "a message never arrives",
        "send-hang@1",
        Set("timeout", "quarantined"),
        "request.timeout" -> Short
      ),
      Fault(
        "every connection is refused",
        "refuse-connect@1+",
        Set("connect-failed", "quarantined")
      ),
      Fault(
        "no connection is answered",
        "hang-connect@1+",
        Set("connect-failed", "timeout", "quarantined"),
        "connect.timeout" -> Short
      ),
      Fault("some files cannot be registered", "register-error%0.3,seed=11", Set("peer-busy"))
    )
  ) {
    test(s"should bring every block, and retry nothing, when ${fault.name}") {
      val faults = Clusters.soft().set("spark.shuffle.rdma.soft.faults", fault.plan)
      SparkCluster.run(withSettings(faults, fault.settings)) { cluster =>
        val (result, traffic) = cluster.trafficOf(blocks(cluster))
        assert(result === Expected)
        assertSameAsSpark(traffic)
        assertNothingRetried(cluster)
        if (fault.reasons.isEmpty) {
          assertAllByRead(traffic)
        } else {
          assert(traffic.fallbacks.nonEmpty, traffic)
          assert(traffic.fallbacks.keySet.subsetOf(fault.reasons), traffic)
          assert(traffic.tcpBytes > 0, traffic)
        }
      }
    }
  }

  test("should copy blocks into registered memory when files are not to be registered") {
    SparkCluster.run(Clusters.soft().set("spark.shuffle.rdma.serve", "copy")) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === Expected)
      assertAllByRead(traffic)
      assert(traffic.counter("serve.pieces.copy") > 0, traffic)
      assert(traffic.counter("serve.pieces.window") === 0, traffic)
    }
  }

  test("should bring every block when hardly any memory may be pinned") {
    SparkCluster.run(Clusters.soft().set("spark.shuffle.rdma.pinned.max", "1m")) { cluster =>
      val (result, traffic) = cluster.trafficOf(blocks(cluster))
      assert(result === Expected)
      assertSameAsSpark(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def withSettings(conf: SparkConf, settings: Seq[(String, String)]): SparkConf =
    settings.foldLeft(conf) { case (changed, (name, value)) =>
      changed.set(s"spark.shuffle.rdma.$name", value)
    }

  private def blocks(cluster: SparkCluster): Seq[(Int, Int)] =
    Jobs.paddedBlocks(cluster.sc, Maps, Reducers, Records, padding = 1_024)
}
