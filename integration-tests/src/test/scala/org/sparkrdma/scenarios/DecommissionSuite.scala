// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** Executors that migrate their map outputs before they exit. */
final class DecommissionSuite extends ScenarioSuite with Eventually {
  private val Maps = 6

  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(90, Seconds), interval = Span(200, Millis))

  test(
    "should read migrated map outputs by READ and verify them although no checksum came with them"
  ) {
    val conf = Clusters
      .soft()
      .set("spark.decommission.enabled", "true")
      .set("spark.storage.decommission.enabled", "true")
      .set("spark.storage.decommission.shuffleBlocks.enabled", "true")
    SparkCluster.run(conf) { cluster =>
      val reduced = Jobs.reduced(cluster.sc)
      val first = reduced.collect().toSet
      val leaving = cluster.processes().keys.min
      val staying = cluster.processes().keys.max
      val before = files(cluster, staying, Jobs.shuffleId(reduced))
      assert(before.outputs < Maps)

      SparkInternals.decommission(cluster.sc, leaving)
      eventually {
        val now = SparkInternals.executorIds(cluster.sc).asScala
        assert(now.size === 2)
        assert(!now.contains(leaving))
      }
      val after = files(cluster, staying, Jobs.shuffleId(reduced))
      assert(after.outputs === Maps, "all outputs are on the executor that stays")
      assert(after.sums === before.sums, "migrated outputs have no recorded checksum")

      val (again, traffic) = cluster.trafficOf(reduced.collect().toSet)
      assert(again === first)
      assertAllByRead(traffic)
      assert(traffic.counter("verify.blocks") === traffic.counter("rdma.blocks.read"), traffic)
      assert(traffic.counter("verify.unverified") === 0, traffic)
      assert(traffic.counter("peers.quarantined") === 0, traffic)
      assertNothingRetried(cluster)
    }
  }

  private def files(
      cluster: SparkCluster,
      executorId: String,
      shuffleId: Int
  ): DecommissionSuite.Files = {
    val names = cluster.onEveryExecutor(DecommissionSuite.blockFiles)(executorId)
    val ofShuffle = names.filter(_.startsWith(s"shuffle_${shuffleId}_"))
    DecommissionSuite.Files(
      ofShuffle.count(_.endsWith(".data")),
      ofShuffle.count(_.contains(".checksum."))
    )
  }
}

private object DecommissionSuite {

  /** Number of files of one shuffle on one executor. */
  final case class Files(outputs: Int, sums: Int)

  val blockFiles: () => Seq[String] = () => SparkInternals.blockFiles().asScala.toSeq
}
