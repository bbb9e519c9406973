// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

/** The plug-in where RDMA is not allowed. */
final class FallbackSuite extends ScenarioSuite {
  test("should not send unencrypted bytes in an application with network encryption") {
    val conf = Clusters
      .soft()
      .set("spark.authenticate", "true")
      .set("spark.authenticate.secret", "of this test")
      .set("spark.network.crypto.enabled", "true")
    SparkCluster.run(conf) { cluster =>
      val (result, traffic) = cluster.trafficOf(Jobs.groupBy(cluster.spark))
      assert(result === Jobs.groupByAnswer)
      assert(traffic.rdmaBytes === 0, traffic)
      assert(traffic.remoteBytesRead > 0, traffic)
      assertNothingRetried(cluster)
    }
  }
}
