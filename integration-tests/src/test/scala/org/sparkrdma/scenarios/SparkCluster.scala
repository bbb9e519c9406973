// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkConf
import org.apache.spark.SparkContext
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession

/** A running cluster of two executors, and its metrics. Confined to the test's thread; closed by
  * `SparkCluster.run` or by the caller of `start`.
  */
private[scenarios] final class SparkCluster private (val spark: SparkSession, cores: Int)
    extends AutoCloseable {
  private val Questions = 20

  val log = new JobLog

  def sc: SparkContext = spark.sparkContext

  /** All traffic so far; queries all executors at once. */
  def traffic(): Traffic = {
    summed(onEveryExecutor(() => SparkInternals.counters().asScala.toSeq))
  }

  private def summed(perExecutor: Map[String, Seq[(String, java.lang.Long)]]): Traffic = {
    SparkInternals.drainListeners(sc)
    val totals = perExecutor.values.flatten.groupMapReduce(_._1)(_._2.longValue)(_ + _)
    Traffic(totals, log.remoteBytesRead)
  }

  /** Runs work and returns the traffic that it caused. */
  def trafficOf[T](work: => T): (T, Traffic) = {
    val before = traffic()
    val result = work
    (result, traffic().since(before))
  }

  /** Same as `traffic`, for all executors that accept tasks now. */
  def answering(): Traffic = {
    val perExecutor = sc
      .parallelize(0 until Questions, Questions)
      .map(_ => SparkEnv.get.executorId -> SparkInternals.counters().asScala.toSeq)
      .collect()
      .toMap
    summed(perExecutor)
  }

  /** The executors' processes by executor id. */
  def processes(): Map[String, Long] = onEveryExecutor(() => ProcessHandle.current().pid())

  /** Kills a process, as the kernel would. */
  def kill(pid: Long): Unit =
    ProcessHandle.of(pid).ifPresent(process => process.destroyForcibly(): Unit)

  /** The result of each executor; a barrier stage runs in all slots at once, so on all executors.
    */
  def onEveryExecutor[T](ask: () => T): Map[String, T] =
    sc.parallelize(0 until cores, cores)
      .barrier()
      .mapPartitions(_ => Iterator(SparkEnv.get.executorId -> ask()))
      .collect()
      .toMap

  override def close(): Unit = {
    spark.stop()
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
  }
}

private[scenarios] object SparkCluster {
  private val Executors = 2

  /** Cores for vanilla Spark in this process. */
  private val Cores = 4
  private val Hosts = Seq("127.0.0.1", "127.0.0.2")

  /** Starts a cluster and waits for both executors. */
  def start(conf: SparkConf): SparkCluster =
    start(conf, conf.get("spark.master").stripPrefix("local-cluster[2,").takeWhile(_.isDigit).toInt)

  /** Starts a cluster whose master does not define the cores of an executor. */
  def start(conf: SparkConf, cores: Int): SparkCluster = {
    val cluster = create(conf, Executors * cores)
    SparkInternals.awaitExecutors(cluster.sc, Executors)
    cluster.sc.addSparkListener(cluster.log)
    cluster
  }

  private def create(conf: SparkConf, cores: Int): SparkCluster = {
    require(SparkSession.getDefaultSession.isEmpty, "another cluster is running")
    new SparkCluster(SparkSession.builder().config(conf).getOrCreate(), cores)
  }

  /** An answer of Spark without the plug-in, and without executors. */
  def vanilla[T](job: SparkSession => T): T =
    Using.resource(create(Clusters.vanilla(Cores), Cores))(local => job(local.spark))

  /** Same as `run`, with executors on two addresses, which Spark takes for two hosts; on one host
    * Spark runs no speculative copy.
    *
    * @param manager
    *   prefix of the Master's URL, for the tests' cluster manager
    */
  def runOnTwoHosts[T](conf: SparkConf, coresEach: Int, manager: String = "")(
      body: SparkCluster => T
  ): T = {
    val directory = Files.createTempDirectory("workers").toString
    // The Workers start no shuffle service.
    val standalone = new MasterAndWorkers(
      conf.clone().set("spark.shuffle.service.enabled", "false")
    )
    try {
      val master = standalone.startMaster(Hosts.head, 0)
      Hosts.foreach(host => standalone.startWorker(master, host, coresEach, directory))
      val cluster = start(conf.clone().setMaster(manager + master), coresEach)
      try body(cluster)
      finally cluster.close()
    } finally standalone.close()
  }

  def run[T](conf: SparkConf)(body: SparkCluster => T): T = {
    val cluster = start(conf)
    try body(cluster)
    finally cluster.close()
  }
}
