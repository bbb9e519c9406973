// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.io.FileOutputStream
import java.nio.file.Files
import java.util.jar.JarEntry
import java.util.jar.JarOutputStream

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkConf
import org.apache.spark.SparkEnv
import org.sparkrdma.scenarios.Clusters
import org.sparkrdma.scenarios.SparkCluster
import org.sparkrdma.scenarios.SparkInternals
import org.sparkrdma.scenarios.faults.engine.FaultyProvider
import org.sparkrdma.scenarios.faults.plan.Faults
import org.sparkrdma.scenarios.faults.plan.Report
import org.sparkrdma.verbs.spi.VerbsProvider

/** A cluster whose executors have an engine with faults. Used by the test's thread. */
private[faults] final class FaultBench(val cluster: SparkCluster) {

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
}

private[faults] object FaultBench {

  /** Short time-outs, so that tests stay short.
    *
    * @param serve
    *   see `FaultPoint.serve`
    */
  def conf(serve: String = "auto"): SparkConf = {
    val plain = Clusters
      .fallback(coresEach = 2)
      .set("spark.shuffle.rdma.serve", serve)
      // Behind Spark's class path: with a jar before it executors could not use the archive of classes.
      .set(
        "spark.executorEnv.SPARK_DIST_CLASSPATH",
        sys.env("SPARK_DIST_CLASSPATH") + ":" + engineJar
      )
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

  /** A jar with only the service file that names the engine. */
  private lazy val engineJar: String = {
    val jar = Files.createTempFile("engine", ".jar")
    Using.resource(new JarOutputStream(new FileOutputStream(jar.toFile))) { out =>
      out.putNextEntry(new JarEntry(s"META-INF/services/${classOf[VerbsProvider].getName}"))
      out.write(classOf[FaultyProvider].getName.getBytes("UTF-8"))
    }
    jar.toString
  }
}
