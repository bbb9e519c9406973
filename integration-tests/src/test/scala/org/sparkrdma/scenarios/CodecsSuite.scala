// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import org.apache.spark.SparkConf

/** All kinds of stored bytes: compressed by each codec, plain, encrypted. */
final class CodecsSuite extends ScenarioSuite {
  private lazy val expected: (Any, Any) = {
    val everyday = VanillaAnswers.everyday
    (everyday("groupBy"), everyday("coalesced SQL aggregation"))
  }

  for (codec <- Seq("lz4", "zstd", "snappy", "lzf")) {
    test(s"should read blocks compressed by $codec") {
      assertSame(Clusters.soft().set("spark.io.compression.codec", codec))
    }
  }

  test("should read blocks that are not compressed") {
    assertSame(Clusters.soft().set("spark.shuffle.compress", "false"))
  }

  test("should read blocks encrypted at rest") {
    assertSame(Clusters.soft().set("spark.io.encryption.enabled", "true"))
  }

  test("should read blocks encrypted at rest in an application with authentication") {
    assertSame(
      Clusters
        .soft()
        .set("spark.io.encryption.enabled", "true")
        .set("spark.authenticate", "true")
        .set("spark.authenticate.secret", "of this test")
        .set("spark.network.crypto.enabled", "true")
    )
  }

  private def assertSame(conf: SparkConf): Unit = {
    val wanted = expected
    SparkCluster.run(conf) { cluster =>
      val (result, traffic) = cluster.trafficOf(results(cluster))
      assert(result === wanted)
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  private def results(cluster: SparkCluster): (Any, Any) =
    (Jobs.groupBy(cluster.spark), Jobs.coalescedAggregation(cluster.spark))
}
