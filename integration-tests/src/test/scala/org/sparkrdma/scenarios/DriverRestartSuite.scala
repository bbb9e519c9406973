// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.lang.ref.Reference
import java.nio.file.Files

import scala.util.Using

import org.apache.spark.SparkConf
import org.apache.spark.rdd.RDD

/** An application whose driver is killed and restarted. */
final class DriverRestartSuite extends ScenarioSuite {

  private val Host = "127.0.0.1"
  private val Workers = 2
  private val BoundSeconds = 30

  test("should read by READ alone when executors of a killed driver are still there") {
    val expected = Jobs.reducedAnswer
    val conf = Clusters
      .soft()
      // Windows only: small blocks that are read rarely would be copied, not registered.
      .set("spark.shuffle.rdma.serve", "window")
      .set("spark.driver.host", Host)
      .set("spark.driver.bindAddress", Host)
      // The second driver gets the port of the first, where its executors expect it.
      .set("spark.driver.port", FreePort.choose().toString)
      .set("spark.port.maxRetries", "0")
    val standalone = new MasterAndWorkers(conf)
    try {
      val master = standalone.startMaster(Host, 0)
      val stale = executorsOfKilledDriver(master, conf)
      try restarted(standalone, conf.clone().setMaster(master), expected, stale)
      finally stale.foreach(signal("KILL", _))
    } finally standalone.close()
  }

  /** Stopped executor processes of a first driver, which was killed with its Workers during a read.
    */
  private def executorsOfKilledDriver(master: String, conf: SparkConf): Seq[Long] = {
    val workers = Seq.fill(Workers)(startWorker(master))
    val driver = SparkJvm.start("driver", "org.apache.spark.deploy.SparkSubmit", held(master, conf))
    try {
      eventually {
        assert(driver.alive, driver.printed)
        assert(driver.valueAfter("READING").nonEmpty)
      }
      val executors = driver.valueAfter("EXECUTORS").get.split(" ").map(_.toLong).toSeq
      assert(executors.size === Workers)
      executors.foreach(signal("STOP", _))
      executors
    } finally (driver +: workers).foreach(_.kill())
  }

  private def restarted(
      standalone: MasterAndWorkers,
      conf: SparkConf,
      expected: Set[(Int, Long)],
      stale: Seq[Long]
  ): Unit = {
    val directory = Files.createTempDirectory("workers").toString
    (1 to Workers).foreach(_ =>
      standalone.startWorker(conf.get("spark.master"), Host, 1, directory)
    )
    val ofStale = SharedFiles.leftOf(stale)
    assert(ofStale.nonEmpty)
    Using.resource(SparkCluster.start(conf, cores = 1)) { cluster =>
      readRight(cluster, Jobs.reduced(cluster.sc), expected)
      assert(stale.forall(alive), "executors of the first driver have ended")
      assert(SharedFiles.leftOf(stale).toSet === ofStale.toSet)
      stale.foreach(signal("CONT", _))
      eventually(assert(!stale.exists(alive)))
      val kept = Jobs.reduced(cluster.sc)
      readRight(cluster, kept, expected)
      eventually(assert(SharedFiles.leftOf(stale) === Nil))
      assert(SharedFiles.registered(cluster.processes().values) > 0)
      // Spark's ContextCleaner removes the shuffle of an unreachable RDD.
      Reference.reachabilityFence(kept)
      assertNothingRetried(cluster)
    }
  }

  private def readRight(
      cluster: SparkCluster,
      job: RDD[(Int, Long)],
      expected: Set[(Int, Long)]
  ): Unit = {
    val ((result, seconds), traffic) = cluster.trafficOf(timed(job.collect().toSet))
    assert(result === expected)
    assertAllByRead(traffic)
    assert(traffic.counter("peers.quarantined") === 0)
    assert(seconds < BoundSeconds)
  }

  private def held(master: String, conf: SparkConf): Seq[String] = {
    val settings = conf.getAll.toSeq.filter { case (key, _) =>
      key != "spark.master" && key != "spark.jars"
    }
    Seq("--master", master, "--jars", sys.props("it.plugin.jar")) ++
      settings.flatMap { case (key, value) => Seq("--conf", s"$key=$value") } ++
      Seq("--class", "org.sparkrdma.scenarios.HeldJob", sys.props("it.jobs.jar"))
  }

  private def startWorker(master: String): SparkJvm =
    SparkJvm.start(
      "worker",
      "org.apache.spark.deploy.worker.Worker",
      Seq("--host", Host, "--cores", "1", "--memory", "1g", "--webui-port", "0", master)
    )

  private def alive(pid: Long): Boolean = {
    val process = ProcessHandle.of(pid)
    process.isPresent && process.get.isAlive
  }

  private def signal(name: String, pid: Long): Unit = {
    new ProcessBuilder("kill", s"-$name", pid.toString).start().waitFor(): Unit
  }
}
