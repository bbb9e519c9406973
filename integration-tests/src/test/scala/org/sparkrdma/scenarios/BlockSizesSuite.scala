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

/** Blocks at both ends: a million tiny ones, and one beyond every 32-bit length. */
final class BlockSizesSuite extends ScenarioSuite {
  private val Side = 1_000

  test("should read 1,000 x 1,000 small blocks") {
    SparkCluster.run(Clusters.soft()) { cluster =>
      val (result, traffic) = cluster.trafficOf(Jobs.smallBlocks(cluster.sc, Side, Side))
      assert(result === Seq.fill(Side)(Side -> Side * (Side - 1) / 2))
      assertAllByRead(traffic)
      assertNothingRetried(cluster)
    }
  }

  test("should read one block of 2.5 GiB to disk") {
    SparkCluster.run(Clusters.soft().set("spark.shuffle.compress", "false")) { cluster =>
      val (writer, reader) = LargeBlock.locations(cluster.sc)
      val (result, traffic) = cluster.trafficOf(LargeBlock.read(cluster.sc, writer, reader))
      assert(result === LargeBlock.Expected)
      assertAllByRead(traffic)
      assert(traffic.remoteBytesRead > LargeBlock.Bytes)
      assert(cluster.log.remoteBytesReadToDisk === traffic.remoteBytesRead)
      assertNothingRetried(cluster)
    }
  }
}
