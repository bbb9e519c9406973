// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf
import org.apache.spark.SparkException

/** The plug-in where RDMA is not available or not allowed. */
final class FallbackSuite extends ScenarioSuite {
  private lazy val expected = VanillaAnswers.everyday("groupBy")

  // Every day JobScriptsIT compares the answer of a job without a device.
  test("should run like plain Spark without a device", Nightly) {
    assertPlain(Clusters.fallback())
  }

  test("should run like plain Spark when it is switched off", Nightly) {
    assertPlain(Clusters.soft().set("spark.shuffle.rdma.mode", "off"))
  }

  test("should not send unencrypted bytes in an application with network encryption") {
    assertPlain(
      Clusters
        .soft()
        .set("spark.authenticate", "true")
        .set("spark.authenticate.secret", "of this test")
        .set("spark.network.crypto.enabled", "true")
    )
  }

  // RequiredRdmaSuite has one of two executors without it every day.
  test("should fail the job with the reasons where RDMA is required and not available", Nightly) {
    SparkCluster.run(Clusters.fallback().set("spark.shuffle.rdma.mode", "required")) { cluster =>
      val failure = intercept[SparkException](Jobs.groupBy(cluster.spark))
      assert(failure.getMessage.contains("spark.shuffle.rdma.mode=required"), failure)
    }
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
