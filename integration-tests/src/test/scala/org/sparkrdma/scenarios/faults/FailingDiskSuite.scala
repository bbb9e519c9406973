// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.nio.file.Files
import java.nio.file.Path

import org.apache.spark.SparkConf
import org.sparkrdma.scenarios.CSource
import org.sparkrdma.scenarios.Clusters
import org.sparkrdma.scenarios.Nightly
import org.sparkrdma.scenarios.ScenarioSuite
import org.sparkrdma.scenarios.SparkCluster
import org.sparkrdma.scenarios.SparkInternals

/** Map outputs whose disk fails with EIO after they were written: neither RDMA nor TCP can read
  * them, and Spark recomputes them.
  */
final class FailingDiskSuite extends ScenarioSuite {
  private val BoundSeconds = 30
  private val Job = FaultJob(maps = 6, reducers = 6, records = 20)

  /** Reasons of other blocks on a connection that ends by a READ's error. */
  private val AfterReadError = Set("quarantined", "lost-peer")

  private val expected = Job.expected

  test("should recompute map outputs that cannot be copied any more") {
    run(
      serve = "copy",
      reason = "peer-unknown-block",
      pieces = "serve.pieces.copy"
    )(_.write())
  }

  test("should recompute map outputs whose windows were read before", Nightly) {
    run(
      serve = "window",
      reason = "read-error",
      pieces = "serve.pieces.window",
      optional = AfterReadError
    )(shuffle => assert(shuffle.read() === expected))
  }

  test("should recompute map outputs whose windows are read for the first time") {
    run(
      serve = "window",
      reason = "read-error",
      pieces = "serve.pieces.window",
      optional = AfterReadError
    )(_.write())
  }

  /** @param prepare
    *   writes the map outputs while the disk works
    * @param optional
    *   further reasons for which blocks may use TCP
    */
  private def run(
      serve: String,
      reason: String,
      pieces: String,
      optional: Set[String] = Set.empty
  )(prepare: OneWayShuffle => Unit): Unit = {
    if (!FailingDisk.hasCompiler) cancel("failing disk: install gcc libc6-dev")
    val disk = FailingDisk.make()
    val conf = Clusters
      .soft(coresEach = 2)
      .set("spark.shuffle.rdma.serve", serve)
      // Spark's client need not find three times that TCP cannot read them either.
      .set("spark.shuffle.io.maxRetries", "1")
      .set("spark.shuffle.io.retryWait", "1s")
    SparkCluster.run(disk.loadInto(OneWayShuffle.placing(conf))) { cluster =>
      val shuffle = new OneWayShuffle(cluster, Job)
      prepare(shuffle)
      assertNothingRetried(cluster)
      val before = cluster.traffic()
      assert(before.fallbacks.isEmpty, before)
      assert(disk.hits === 0)

      disk.fail()
      val (answer, seconds) = timed(shuffle.read())
      val traffic = cluster.traffic().since(before)
      assert(answer === expected)
      assert(seconds < BoundSeconds)
      assert(disk.hits > 0)
      assert(traffic.fallbacks.keySet.contains(reason), traffic)
      assert(traffic.fallbacks.keySet.subsetOf(optional + reason), traffic)
      assert(traffic.tcpBytes === 0, traffic)
      assert(traffic.counter("rdma.blocks.read") >= shuffle.blocks, traffic)
      assert(traffic.counter(pieces) >= shuffle.blocks, traffic)
      assert(traffic.counter("verify.corrupt") === 0, traffic)
      SparkInternals.drainListeners(cluster.sc)
      assert(cluster.log.retriedStages > 0, "the outputs were not recomputed")

      val hits = disk.hits
      val (again, after) = cluster.trafficOf(shuffle.read())
      assert(again === expected)
      assertAllByRead(after)
      assert(after.counter("rdma.blocks.read") === shuffle.blocks)
      assert(disk.hits === hits)
    }
  }
}

/** A library that makes reads of map outputs fail in executors (`failing_disk.c`). Confined to the
  * test's thread.
  */
private[faults] final class FailingDisk private (library: Path, begin: Path) {

  /** Loads the library into the executors. */
  def loadInto(conf: SparkConf): SparkConf =
    conf
      .set("spark.executorEnv.LD_PRELOAD", library.toString)
      .set("spark.executorEnv.FAILING_DISK", begin.toString)

  /** Makes each map output that exists now unreadable. */
  def fail(): Unit = {
    Files.createFile(begin): Unit
  }

  /** Number of calls that failed. */
  def hits: Int = {
    val counted = begin.resolveSibling(s"${begin.getFileName}.hits")
    if (Files.exists(counted)) Files.size(counted).toInt else 0
  }
}

private[faults] object FailingDisk {
  def hasCompiler: Boolean =
    Files.exists(Path.of("/usr/include/stdio.h")) &&
      sys.env("PATH").split(":").exists(folder => Files.isExecutable(Path.of(folder, "cc")))

  /** Compiles the library. */
  def make(): FailingDisk = {
    val folder = Files.createTempDirectory("failing-disk")
    val library = CSource.compile("failing_disk", folder, "-shared", "-fPIC")
    new FailingDisk(library, folder.resolve("begin"))
  }
}
