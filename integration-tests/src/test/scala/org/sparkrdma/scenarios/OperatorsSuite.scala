// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.scalatest.BeforeAndAfterAll

/** Common operators on one cluster. */
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
    test(s"$name should return vanilla Spark's result, by READ") {
      val (result, traffic) = cluster.trafficOf(job(cluster.spark))
      assert(result === expected(name))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }
}
