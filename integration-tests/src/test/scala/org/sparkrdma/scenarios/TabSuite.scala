// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Files
import java.nio.file.Path
import java.util.Base64
import java.util.HexFormat

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.SparkConf
import org.apache.spark.scheduler.SparkListener
import org.apache.spark.scheduler.SparkListenerTaskEnd

/** The tab "RDMA shuffle" of applications with several executors, live. */
final class TabSuite extends ScenarioSuite {
  private val OurWarning = """\S+ (\d+) WARN \S+ \[[^\]]*\] (.*RDMA.*)""".r
  private val Secret = "of-this-tab-7f3a"
  private val Sink = "spark.metrics.conf.driver.sink.prometheusServlet."
  private val CsvSink = "spark.metrics.conf.executor.sink.csv."
  private val Remote = 0
  private val Read = 1
  private val Tcp = 2
  private lazy val metrics = Files.createTempDirectory("executor-metrics")
  private lazy val logs = Files.createTempDirectory("event-logs")

  test("should say why RDMA is not used, in the log and in the checks of executors, too") {
    val conf = withUi(Clusters.fallback())
      .set("spark.shuffle.rdma.doctor", "true")
      .set("spark.example.password", "not-for-logs")
    val length = Files.size(DebugLog.log)
    SparkCluster.runOnTwoHosts(conf, coresEach = 1) { cluster =>
      val spark = remoteBytes(cluster)
      Jobs.groupBy(cluster.spark)
      val page = await(cluster)(page =>
        page.contains("Not used in 2 executors:</strong>") &&
          page.contains("<td>unavailable</td>")
      )
      assert(page.contains("ibverbs: "), page)
      assertReasons(page, hosts(cluster))
      assert(up(page) === 0, page)
      val stages = awaitStages(cluster, spark)
      info(s"bytes by stage: $stages")
      assert(stages.values.forall(stage => stage(Read) == 0), stages)
      val scraped = scrape(cluster)
      assert(value(scraped, "blocks_without_rdma") > 0, scraped)
      assert(value(scraped, "blocks_fallback") === 0, scraped)
      assert(value(scraped, "bytes_fallback") === 0, scraped)
      // One for each host.
      eventually(assert(checksSince(length).size === 2))
    }
    val checks = checksSince(length)
    assert(checks.forall(_.contains(": RDMA is not used\n")), checks)
    assert(checks.forall(_.contains("\n  problem  engine            ibverbs: ")), checks)
    assert(checks.forall(_.contains(" To do: ")), checks)
    assert(!checks.exists(_.contains("not-for-logs")), checks)
    val warnings = DebugLog.linesSince(length).collect {
      case OurWarning(pid, text) if !text.startsWith("Checks of executor ") => pid -> text
    }
    assert(warnings.size >= 2, "both executors warn")
    assert(warnings.map(_._1).distinct.size === warnings.size, warnings)
    assert(warnings.forall(_._2.contains("RDMA is not used")), warnings)
    assert(warnings.forall(_._2.contains("ibverbs: ")), warnings)
    // DiSNI is not configured.
    assert(!warnings.exists(_._2.contains("disni")), warnings)
  }

  test("should show executors with their devices, bytes by READ and a lost executor") {
    val conf = withUi(Clusters.soft())
      .set("spark.authenticate", "true")
      .set("spark.authenticate.secret", Secret)
      .set(CsvSink + "class", "org.apache.spark.metrics.sink.CsvSink")
      .set(CsvSink + "directory", metrics.toString)
      .set(CsvSink + "period", "1")
    SparkCluster.run(conf) { cluster =>
      val spark = remoteBytes(cluster)
      Jobs.groupBy(cluster.spark)
      // Enough bytes for registered windows.
      for (_ <- 1 to 3) {
        val texts = cluster.spark.range(0, 500000, 1, 8).selectExpr("uuid() as text")
        assert(texts.repartition(16).selectExpr("max(text)").collect().length === 1)
      }
      val busy = await(cluster)(page => up(page) == 2 && bytesByRead(page) > 0)
      val stages = awaitStages(cluster, spark)
      assert(stages.values.exists(_(Read) > 0), stages)
      info(s"bytes by stage: $stages")
      assertScraped(cluster)
      hosts(cluster).keys.foreach(assertGauges)
      hosts(cluster).foreach { case (one, host) =>
        assert(row(busy, one).startsWith(s"<tr><td>$one</td><td>$host</td><td>up</td>"), busy)
      }
      assert(row(busy, "1").contains("(soft)</td>"), busy)
      assert(">[0-9.]+:[0-9]+".r.findFirstIn(row(busy, "1")).isDefined, busy)
      val lost = SparkInternals.executorIds(cluster.sc).get(0)
      cluster.kill(cluster.processes()(lost))
      val after = await(cluster)(page => row(page, lost).contains("<td>lost: "))
      assert(bytesByRead(after) > 0, after)
      assert(!hasSecret(busy) && !hasSecret(after))
    }
    val events = eventsOf(logs).filter(_.contains("RdmaShuffleEvent"))
    assert(events.nonEmpty)
    assert(!events.exists(hasSecret))
  }

  /** The checks of each executor in the driver's log, from their first line to the end of the
    * indented ones.
    */
  private def checksSince(length: Long): Seq[String] =
    DebugLog.linesSince(length).mkString("\n").split("Checks of executor ", -1).drop(1).toSeq.map {
      checks =>
        val lines = checks.linesIterator.toSeq
        (lines.head +: lines.tail.takeWhile(_.startsWith("  "))).mkString("\n")
    }

  private def withUi(conf: SparkConf): SparkConf = conf
    .set("spark.ui.enabled", "true")
    .set("spark.ui.port", "0")
    .set("spark.eventLog.enabled", "true")
    .set("spark.eventLog.dir", logs.toUri.toString)
    .set("spark.eventLog.compress", "false")
    .set("spark.metrics.namespace", "spark")
    .set(Sink + "class", "org.apache.spark.metrics.sink.PrometheusServlet")
    .set(Sink + "path", "/metrics/prometheus")

  /** Asserts that Prometheus gets the bytes that Spark has counted; all executors have reported. */
  private def assertScraped(cluster: SparkCluster): Unit = {
    val text = scrape(cluster)
    assert(value(text, "bytes_read") > 0, text)
    val remote = value(text, "bytes_read") + value(text, "bytes_tcp")
    assert(remote === cluster.log.remoteBytesRead, text)
    assert(value(text, "executors_rdma_up") === 2, text)
    assert(value(text, "executors_rdma_off") === 0, text)
    assert(value(text, "pinned_bytes") > 0, text)
    assert(value(text, "pinned_limit") > value(text, "pinned_bytes"), text)
    assert(value(text, "connections_open") === 4, text)
    assert(value(text, "read_latency_p99") > 0, text)
  }

  /** Asserts that the gauges of an executor reach a sink of Spark. */
  private def assertGauges(executorId: String): Unit = eventually {
    def last(name: String): Long =
      Files
        .readString(metrics.resolve(s"spark.$executorId.rdma.$name.csv"))
        .linesIterator
        .toSeq
        .last
        .split(",")(1)
        .toLong
    val limit = last("pinned.limit")
    assert(limit > 0)
    assert(last("pinned.bytes") > 0 && last("pinned.bytes") <= limit)
    assert(last("connections.open") === 2)
    assert(last("read.latency.p50") > 0 && last("read.latency.p99") >= last("read.latency.p50"))
  }

  /** The text that Prometheus gets from the driver. */
  private def scrape(cluster: SparkCluster): String =
    Http.get(cluster.sc.uiWebUrl.get + "/metrics/prometheus/").body

  private def value(scraped: String, name: String): Long =
    s"metrics_spark_driver_rdma_application_${name}_Value\\{[^}]*\\} (\\d+)".r
      .findFirstMatchIn(scraped)
      .map(_.group(1).toLong)
      .getOrElse(throw new AssertionError(scraped))

  private def eventsOf(directory: Path): Seq[String] =
    Using.resource(Files.walk(directory))(
      _.iterator.asScala
        .filter(Files.isRegularFile(_))
        .filter(_.getFileName.toString.startsWith("events_"))
        .flatMap(Files.readAllLines(_).asScala)
        .toSeq
    )

  /** The secret as text, in Base64 or in hexadecimal digits. */
  private def hasSecret(text: String): Boolean = {
    val bytes = Secret.getBytes("UTF-8")
    Seq(Secret, Base64.getEncoder.encodeToString(bytes), HexFormat.of.formatHex(bytes))
      .exists(text.contains(_))
  }

  /** Hosts of the executors that Spark itself names. */
  private def hosts(cluster: SparkCluster): Map[String, String] =
    SparkInternals.executorHosts(cluster.sc).asScala.toMap

  /** Asserts that the table has each executor with its host and its reason. */
  private def assertReasons(page: String, hosts: Map[String, String]): Unit = {
    assert(hosts.size === 2)
    hosts.foreach { case (id, host) =>
      assert(page.contains(s"<tr><td>$id</td><td>$host</td><td>off (ibverbs: "), page)
    }
  }

  private def up(page: String): Int = number(page, """up in (\d+) of """)

  private def bytesByRead(page: String): Int = number(page, """&#9632;</span> (\d+)""")

  private def number(page: String, pattern: String): Int =
    pattern.r.findFirstMatchIn(page).fold(0)(_.group(1).toInt)

  /** Remote bytes of each stage that Spark's own metrics count from now on. */
  private def remoteBytes(cluster: SparkCluster): mutable.Map[Long, Long] = {
    val bytes = mutable.Map.empty[Long, Long].withDefaultValue(0L)
    cluster.sc.addSparkListener(new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit = bytes.synchronized {
        bytes(end.stageId.toLong) += end.taskMetrics.shuffleReadMetrics.remoteBytesRead
      }
    })
    bytes
  }

  /** The stages with remote bytes, when all executors have reported what Spark has counted. */
  private def awaitStages(
      cluster: SparkCluster,
      spark: mutable.Map[Long, Long]
  ): Map[Long, Seq[Long]] = {
    SparkInternals.drainListeners(cluster.sc)
    val expected = spark.synchronized(spark.toMap).filter(_._2 > 0)
    assert(expected.nonEmpty)
    def complete(page: String): Boolean = {
      val stages = stagesOf(page)
      expected.forall { case (id, bytes) =>
        stages.get(id).exists(stage => stage(Remote) == bytes && stage(Read) + stage(Tcp) == bytes)
      }
    }
    stagesOf(await(cluster)(complete)).filter { case (id, _) => expected.contains(id) }
  }

  /** Bytes in the rows of the table of stages, by the id of the stage. */
  private def stagesOf(page: String): Map[Long, Seq[Long]] = {
    val begin = page.indexOf("id=\"rdma-stages\"")
    val rows =
      if (begin < 0) Array.empty[String]
      else page.substring(begin, page.indexOf("</table>", begin)).split("<tr>").drop(2)
    rows
      .map(row => """sorttable_customkey="(-?\d+)"""".r.findAllMatchIn(row).map(_.group(1).toLong))
      .map(_.toSeq)
      // The share and the fetch wait are no bytes.
      .map(cells => cells.head -> cells.drop(3))
      .toMap
  }

  /** The row of an executor; empty without one. */
  private def row(page: String, executorId: String): String = {
    val begin = page.indexOf(s"<tr><td>$executorId</td>")
    if (begin < 0) "" else page.substring(begin, page.indexOf("</tr>", begin))
  }

  /** Executors send their figures from time to time. */
  private def await(cluster: SparkCluster)(isReady: String => Boolean): String = eventually {
    val page = Http.get(cluster.sc.uiWebUrl.get + "/rdma-shuffle/").body
    assert(isReady(page), page)
    page
  }
}

private[scenarios] object Http {
  private val client =
    HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()

  def get(url: String): HttpResponse[String] =
    client.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
}
