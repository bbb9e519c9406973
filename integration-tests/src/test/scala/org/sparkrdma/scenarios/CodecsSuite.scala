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

/** Stored bytes of every kind: compressed by each codec, plain, encrypted. */
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
