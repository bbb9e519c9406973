// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import scala.jdk.CollectionConverters._

import org.sparkrdma.scenarios.faults.FaultJob

/** Executors that migrate their map outputs before they exit. */
final class DecommissionSuite extends ScenarioSuite {
  private val Maps = 6
  private val DecommissionAfter = 8
  private val BoundSeconds = 30

  private val job = FaultJob.Many
  private val expected = job.expected

  /** Of both tests: the second one has an executor that stayed and one that is new. */
  private lazy val cluster = shared(
    Clusters
      .soft(coresEach = 2)
      .set("spark.decommission.enabled", "true")
      .set("spark.storage.decommission.enabled", "true")
      .set("spark.storage.decommission.shuffleBlocks.enabled", "true")
      // Spark's interval between searches for blocks to migrate is 30 s by default. The executor
      // ends after a search that finds none.
      .set("spark.storage.decommission.replicationReattemptInterval", "1s")
      // Small requests, so that some are made after the decommission.
      .set("spark.reducer.maxSizeInFlight", "48k")
  )

  test(
    "should read migrated map outputs by READ and verify them although no checksum came with them"
  ) {
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

  test("should give the vanilla answer when an executor is decommissioned while blocks are read") {
    val (leaving, pid) = cluster.processes().minBy(_._1)
    @volatile var beginNs = 0L
    val decommissioning = new ExecutorKiller(
      pid,
      DecommissionAfter,
      _ => {
        beginNs = System.nanoTime()
        SparkInternals.decommission(cluster.sc, leaving)
        true
      }
    )
    cluster.sc.addSparkListener(decommissioning)
    val answer = job.run(cluster.sc)
    val seconds = (System.nanoTime() - beginNs) / 1e9
    val traffic = cluster.answering()
    assert(decommissioning.fired)
    cluster.sc.removeSparkListener(decommissioning)
    assert(answer === expected)
    assert(traffic.rdmaBytes > 0)
    eventually(assert(!SparkInternals.executorIds(cluster.sc).asScala.contains(leaving)))
    SparkInternals.awaitExecutors(cluster.sc, 2)
    val (again, after) = cluster.trafficOf(job.run(cluster.sc))
    assert(again === expected)
    assertAllByRead(after)
    assert(seconds < BoundSeconds)
  }

  private def files(cluster: SparkCluster, executorId: String, shuffleId: Int): BlockFiles = {
    val names =
      cluster.onEveryExecutor(() => SparkInternals.blockFiles().asScala.toSeq)(executorId)
    val ofShuffle = names.filter(_.startsWith(s"shuffle_${shuffleId}_"))
    BlockFiles(ofShuffle.count(_.endsWith(".data")), ofShuffle.count(_.contains(".checksum.")))
  }
}

/** Number of files of one shuffle on one executor. */
private final case class BlockFiles(outputs: Int, sums: Int)
