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

import org.scalatest.BeforeAndAfterAll

/** Everyday operators on one cluster, one after the other. */
final class OperatorsSuite extends ScenarioSuite with BeforeAndAfterAll {
  private lazy val expected: Map[String, Any] = VanillaAnswers.everyday

  private var cluster: SparkCluster = _

  override def beforeAll(): Unit = {
    super.beforeAll()
    assert(expected.size === Jobs.all.size)
    cluster = SparkCluster.start(Clusters.soft())
  }

  override def afterAll(): Unit =
    try Option(cluster).foreach(_.close())
    finally super.afterAll()

  for ((name, job) <- Jobs.all) {
    test(s"$name should give what vanilla Spark gives, its bytes by READ") {
      val (result, traffic) = cluster.trafficOf(job(cluster.spark))
      assert(result === expected(name))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }
}
