// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

/** The checks of executors with `spark.shuffle.rdma.doctor`, in the log of the driver. */
final class DoctorSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(90, Seconds), interval = Span(300, Millis))

  private val Begin = "Checks of executors: "
  private val log = Path.of(sys.env("IT_LOG"))

  test("should log one table of two executors with RDMA") {
    val (before, tables) = tablesOf(Clusters.soft().set("spark.shuffle.rdma.doctor", "true"))
    assert(tables.size === 1, before)
    val table = tables.head
    assert(table.startsWith("RDMA is used in 2, not used in 0. First to do: nothing\n"), table)
    assert(table.contains("\nRDMA is used: 2 executors, "), table)
    assert("127.0.0.1, 127.0.0.2|127.0.0.2, 127.0.0.1".r.findFirstIn(table).isDefined, table)
    assert(!table.contains("\n  warning"), table)
    assert(!table.contains("encryption"), table)
  }

  test("should log the reasons and the first thing to do of two executors without RDMA") {
    val (before, tables) = tablesOf(Clusters.fallback().set("spark.shuffle.rdma.doctor", "true"))
    assert(tables.size === 1, before)
    val table = tables.head
    assert(table.startsWith("RDMA is used in 0, not used in 2. First to do: "), table)
    assert(!table.linesIterator.next().endsWith(": nothing"), table)
    assert(table.contains("\nRDMA is not used: 2 executors, "), table)
    assert(table.contains("\n  problem  engine            ibverbs: "), table)
    assert(!table.contains("not-for-logs"), table)
  }

  test("should run tasks while the checks hang, and report that after ten seconds") {
    val length = Files.size(log)
    val conf = Clusters
      .fallback()
      .setAll(LongTimeouts.SETTINGS.asScala)
      .set("spark.shuffle.rdma.doctor", "true")
    SparkCluster.run(EngineJar.addTo(conf, classOf[HungProvider])) { cluster =>
      def hung() = cluster.onEveryExecutor(() => HungProvider.isHung)
      Jobs.groupBy(cluster.spark)
      eventually(assert(hung().values.forall(identity)))
      val (_, traffic) = cluster.trafficOf(Jobs.groupBy(cluster.spark))
      assertAllByRead(traffic)
      eventually(assert(tablesAfter(length).nonEmpty))
    }
    val table = tablesAfter(length).head
    assert(table.startsWith("RDMA is used in 2, not used in 0. "), table)
    assert(table.contains("gave no result: they did not end within 10 s."), table)
  }

  test("should check nothing unless it is set") {
    val length = Files.size(log)
    SparkCluster.run(Clusters.soft())(cluster => Jobs.groupBy(cluster.spark))
    assert(tablesAfter(length).isEmpty)
  }

  /** Everything that the log got, and its tables. */
  private def tablesOf(conf: org.apache.spark.SparkConf): (String, Seq[String]) = {
    val length = Files.size(log)
    conf.set("spark.example.password", "not-for-logs")
    SparkCluster.runOnTwoHosts(conf, coresEach = 1) { cluster =>
      Jobs.groupBy(cluster.spark)
      eventually(assert(tablesAfter(length).nonEmpty))
    }
    (textAfter(length), tablesAfter(length))
  }

  private def textAfter(length: Long): String = {
    val bytes = Files.readAllBytes(log)
    new String(bytes, length.toInt, bytes.length - length.toInt, "UTF-8")
  }

  /** The lines from the answer to the end of the indented ones. */
  private def tablesAfter(length: Long): Seq[String] =
    textAfter(length).split(Begin, -1).drop(1).toSeq.map { text =>
      val lines = text.linesIterator.toSeq
      (lines.head +: lines.tail
        .takeWhile(line => line.startsWith(" ") || line.startsWith("RDMA is "))).mkString("\n")
    }
}
