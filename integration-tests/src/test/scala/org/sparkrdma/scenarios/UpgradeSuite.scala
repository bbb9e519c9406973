// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

import scala.util.Using

import org.sparkrdma.scenarios.faults.FaultJob

/** Executors with different versions of the plug-in's jar, as during a rolling upgrade. */
final class UpgradeSuite extends ScenarioSuite {
  private val Host = "127.0.0.1"
  private val Cores = 2
  private val BoundSeconds = 30

  /** An executor runs in WORKER/APPLICATION/EXECUTOR, so this is a jar of its Worker. */
  private val JarOfWorker = "../../plugin.jar"

  test("should use TCP between two versions of the protocol, and READ after the upgrade") {
    val newer = NewerJar.make()
    val upgraded = Files.createTempDirectory("upgraded")
    val older = Files.createTempDirectory("older")
    Files.copy(newer, upgraded.resolve("plugin.jar"))
    val conf = Clusters.soft(Cores).set("spark.executor.extraClassPath", JarOfWorker)
    val standalone = new MasterAndWorkers(conf)
    try {
      val master = standalone.startMaster(Host, 0)
      Seq(upgraded, older).foreach(folder =>
        standalone.startWorker(master, Host, Cores, folder.toString)
      )
      Using.resource(SparkCluster.start(conf.clone().setMaster(master), Cores)) { cluster =>
        // Each has asked itself, which is one connection with two ends.
        eventually(assert(cluster.traffic().counter("connections.closed") === 4))
        val mixed = run(cluster)
        assert(mixed.fallbacks.keySet === Set("incompatible"), mixed)
        assert(mixed.counter("rdma.blocks.read") === 0, mixed)
        assert(mixed.counter("connections.established") === 0, mixed)
        assert(mixed.counter("connections.refused") === 0, mixed)

        Files.copy(newer, older.resolve("plugin.jar"))
        val before = cluster.processes()
        cluster.kill(before.values.find(folderOfWorker(_) == older.toRealPath()).get)
        awaitOtherExecutor(cluster, before.keySet)
        val after = run(cluster)
        assert(after.fallbacks.isEmpty, after)
        assert(after.counter("rdma.blocks.read") > 0, after)
        assert(after.counter("tcp.blocks.read") === 0, after)
      }
    } finally standalone.close()
  }

  /** The folder of the Worker that started this executor. */
  private def folderOfWorker(pid: Long): Path =
    Path.of(s"/proc/$pid/cwd").toRealPath().getParent.getParent

  private def run(cluster: SparkCluster): Traffic = {
    val ((answer, seconds), traffic) = cluster.trafficOf(timed(FaultJob.Usual.run(cluster.sc)))
    assert(answer === FaultJob.Usual.expected)
    assertSameAsSpark(traffic)
    assert(seconds < BoundSeconds)
    traffic
  }
}
