// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.sparkrdma.scenarios.Clusters
import org.sparkrdma.scenarios.EngineJar
import org.sparkrdma.scenarios.SparkCluster
import org.sparkrdma.scenarios.SparkInternals
import org.sparkrdma.scenarios.faults.plan.Faults
import org.sparkrdma.scenarios.faults.engine.FaultyProvider
import org.sparkrdma.scenarios.faults.plan.Report

/** A cluster whose executors have an engine with faults. Used by the test's thread.
  *
  * @param serve
  *   see `FaultPoint.serve`
  */
private[faults] final class FaultBench(val serve: String) extends AutoCloseable {
  val cluster: SparkCluster =
    SparkCluster.start(FaultBench.conf().set("spark.shuffle.rdma.serve", serve))

  def counters(): Map[String, Map[String, Long]] =
    cluster
      .onEveryExecutor(() => SparkInternals.counters().asScala.toSeq)
      .map { case (id, counts) => id -> counts.map(c => c._1 -> c._2.longValue).toMap }

  /** Arms all executors, or only the first. */
  def arm(point: FaultPoint): Unit = {
    val pids = cluster.processes()
    val directory = Files.createTempDirectory("fault")
    val first = pids.keys.min
    val rules = pids.map { case (id, pid) =>
      val peer = pids.collectFirst { case (other, peerPid) if other != id => peerPid }.get
      val armed = if (point.onOneExecutor && id != first) Nil else point.rules
      id -> armed.map { rule =>
        rule.`with`(
          rule.argument
            .replace("%self", pid.toString)
            .replace("%peer", peer.toString)
            .replace("%dir", directory.toString)
        )
      }
    }
    cluster.onEveryExecutor { () =>
      Faults.here().arm(rules(SparkEnv.get.executorId).asJava)
    }: Unit
  }

  def disarm(): Seq[Report] = cluster.onEveryExecutor(() => Faults.here().disarm()).values.toSeq

  /** Blocks and requests in flight, and queue pairs, in each executor. */
  def openWork(): Iterable[(Int, Int)] =
    cluster.onEveryExecutor(() => (Faults.here().inFlight, Faults.here().queuePairs)).values

  /** Ends of connections that are closed, and pinned bytes, in each executor. */
  def endsAndBytes(): Iterable[(Long, Long)] = cluster.onEveryExecutor { () =>
    (SparkInternals.gauge("connections.closed"), SparkInternals.gauge("pinned.bytes"))
  }.values

  /** Process of the executor with the lowest id: single faults fire in it. */
  def firstProcess(): (String, Long) = cluster.processes().minBy(_._1)

  /** An executor as a preferred location. */
  def locationOf(executor: String): String =
    s"executor_${SparkEnv.get.blockManager.blockManagerId.host}_$executor"

  def executorIds(): Set[String] = SparkInternals.executorIds(cluster.sc).asScala.toSet

  override def close(): Unit = cluster.close()
}

private[faults] object FaultBench {

  /** Short time-outs, so that tests stay short. */
  def conf(): SparkConf = {
    val plain = EngineJar.addTo(Clusters.fallback(coresEach = 2), classOf[FaultyProvider])
    val settings = Map(
      "request.timeout" -> "1s",
      "connect.timeout" -> "1s",
      "idle.timeout" -> "5s",
      "waits.factor" -> "100",
      "pool.max" -> "4m"
    )
    settings
      .foldLeft(plain) { case (conf, (key, value)) => conf.set(s"spark.shuffle.rdma.$key", value) }
      .set("spark.reducer.maxSizeInFlight", "200k")
      .set("spark.shuffle.io.retryWait", "1s")
  }
}
