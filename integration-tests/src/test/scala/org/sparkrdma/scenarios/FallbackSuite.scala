// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf

/** The plug-in where RDMA is not available or not allowed. */
final class FallbackSuite extends ScenarioSuite {
  private lazy val expected = VanillaAnswers.everyday("groupBy")

  test("should not send unencrypted bytes in an application with network encryption") {
    assertPlain(
      Clusters
        .soft()
        .set("spark.authenticate", "true")
        .set("spark.authenticate.secret", "of this test")
        .set("spark.network.crypto.enabled", "true")
    )
  }

  test("should refuse an unknown setting before the application starts") {
    val conf = Clusters.soft().set("spark.shuffle.rdma.pined.max", "1g")
    val failure = intercept[Exception](SparkCluster.run(conf)(_ => ()))
    val messages = Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null)
    assert(messages.exists(_.toString.contains("spark.shuffle.rdma.pined.max")), failure)
  }

  private def assertPlain(conf: SparkConf): Unit = {
    val wanted = expected
    SparkCluster.run(conf) { cluster =>
      val (result, traffic) = cluster.trafficOf(Jobs.groupBy(cluster.spark))
      assert(result === wanted)
      assert(traffic.rdmaBytes === 0, traffic)
      assert(traffic.remoteBytesRead > 0, traffic)
      assertNothingRetried(cluster)
    }
  }
}
