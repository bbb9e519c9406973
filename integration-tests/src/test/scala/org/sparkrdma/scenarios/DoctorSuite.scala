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

  private val Begin = "Checks of executor "
  private val log = Path.of(sys.env("IT_LOG"))

  test("should log the reasons and what to do of two hosts without RDMA") {
    val conf = Clusters
      .fallback()
      .set("spark.shuffle.rdma.doctor", "true")
      .set("spark.example.password", "not-for-logs")
    val length = Files.size(log)
    SparkCluster.runOnTwoHosts(conf, coresEach = 1) { cluster =>
      Jobs.groupBy(cluster.spark)
      eventually(assert(reportsAfter(length).size === 2))
    }
    val reports = reportsAfter(length)
    assert(reports.forall(_.contains(": RDMA is not used\n")), reports)
    assert(reports.forall(_.contains("\n  problem  engine            ibverbs: ")), reports)
    assert(reports.forall(_.contains(" To do: ")), reports)
    assert(!reports.exists(_.contains("not-for-logs")), reports)
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
      eventually(assert(reportsAfter(length).nonEmpty))
    }
    val report = reportsAfter(length).head
    assert(report.contains(": RDMA is used\n"), report)
    assert(report.contains("gave no result: they did not end within 10 s."), report)
  }

  /** Each from its first line to the end of the indented ones. */
  private def reportsAfter(length: Long): Seq[String] = {
    val bytes = Files.readAllBytes(log)
    val text = new String(bytes, length.toInt, bytes.length - length.toInt, "UTF-8")
    text.split(Begin, -1).drop(1).toSeq.map { report =>
      val lines = report.linesIterator.toSeq
      (lines.head +: lines.tail.takeWhile(_.startsWith("  "))).mkString("\n")
    }
  }
}
