// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Files
import java.nio.file.Path
import java.util.Base64
import java.util.HexFormat

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkConf
import org.scalatest.concurrent.Eventually
import org.scalatest.time.Millis
import org.scalatest.time.Seconds
import org.scalatest.time.Span

/** The tab "RDMA shuffle" of applications with several executors, live and in a History Server. */
final class TabSuite extends ScenarioSuite with Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(timeout = Span(90, Seconds), interval = Span(300, Millis))

  private val Secret = "of-this-tab-7f3a"
  private val Latency = ".. (µs|ms)</td>".r

  test("should show executors with their devices, bytes by READ and a lost executor") {
    val logs = Files.createTempDirectory("event-logs")
    val conf = withUi(Clusters.soft(), logs)
      .set("spark.authenticate", "true")
      .set("spark.authenticate.secret", Secret)
      .set("spark.eventLog.compress", "false")
    val id = SparkCluster.run(conf) { cluster =>
      Jobs.groupBy(cluster.spark)
      // Enough bytes for registered windows, and for a chart with a shape.
      for (_ <- 1 to 3) {
        val texts = cluster.spark.range(0, 2000000, 1, 8).selectExpr("uuid() as text")
        assert(texts.repartition(16).selectExpr("max(text)").collect().length === 1)
      }
      val busy = await(cluster)(page =>
        up(page) == 2 && bytesByRead(page) > 0 && Latency.findFirstIn(row(page, "1")).isDefined
      )
      Screenshots.save("live", url(cluster))
      assert(row(busy, "1").contains("<td>soft</td>"), busy)
      assert("<td>[0-9.]+:[0-9]+".r.findFirstIn(row(busy, "1")).isDefined, busy)
      val lost = SparkInternals.executorIds(cluster.sc).get(0)
      ProcessHandle
        .of(cluster.processes()(lost))
        .ifPresent(process => {
          process.destroyForcibly(): Unit
        })
      val after = await(cluster)(page => row(page, lost).contains("<td>lost: "))
      assert(bytesByRead(after) > 0, after)
      assert(!hasSecret(busy) && !hasSecret(after))
      Screenshots.save("live-lost-executor", url(cluster))
      cluster.sc.applicationId
    }
    val events = eventsOf(logs)
    assert(events.nonEmpty)
    assert(!events.exists(hasSecret))
    val history = HistoryServer.start(logs)
    try {
      val page = awaitPage(history.url(id))(bytesByRead(_) > 0)
      assert(page.contains("<td>lost: "), page)
      assert(page.contains("<td>soft</td>"), page)
      assert(!hasSecret(page))
      Screenshots.save("history", history.url(id))
    } finally history.close()
    val without = HistoryServer.start(logs, jars = Nil)
    try awaitPage(without.url(id, "executors"))(_.contains("<title>scenario - Executors"))
    finally without.close()
  }

  test("should say why RDMA is not used") {
    SparkCluster.run(withUi(Clusters.fallback(), Files.createTempDirectory("event-logs"))) {
      cluster =>
        Jobs.groupBy(cluster.spark)
        val page = await(cluster)(page =>
          page.contains("Not used in 2 executors:</strong>") &&
            page.contains("<td>unavailable</td>")
        )
        assert(page.contains("ibverbs: "), page)
        assert(up(page) === 0, page)
        Screenshots.save("live-without-rdma", url(cluster))
    }
  }

  test("should be drawn by a browser") {
    if (!Screenshots.available) {
      cancel("no /usr/bin/chromium")
    }
    val drawn = Screenshots.saved
    assert(drawn.keySet === Set("live", "live-lost-executor", "live-without-rdma", "history"))
    drawn.foreach { case (name, bytes) => assert(bytes > 20_000, name) }
  }

  private def withUi(conf: SparkConf, logs: Path): SparkConf = conf
    .set("spark.ui.enabled", "true")
    .set("spark.ui.port", "0")
    .set("spark.eventLog.enabled", "true")
    .set("spark.eventLog.dir", logs.toUri.toString)

  /** The plug-in's events in the logs of applications. */
  private def eventsOf(logs: Path): Seq[String] = {
    val files = Files.walk(logs)
    try
      files
        .iterator()
        .asScala
        .filter(Files.isRegularFile(_))
        .flatMap(Files.readAllLines(_).asScala)
        .filter(_.contains("RdmaShuffleEvent"))
        .toSeq
    finally files.close()
  }

  /** The secret as text, in Base64 or in hexadecimal digits. */
  private def hasSecret(text: String): Boolean = {
    val bytes = Secret.getBytes("UTF-8")
    Seq(Secret, Base64.getEncoder.encodeToString(bytes), HexFormat.of.formatHex(bytes))
      .exists(text.contains(_))
  }

  private def up(page: String): Int = number(page, """up in (\d+) of """)

  private def bytesByRead(page: String): Int = number(page, """By READ:</strong> (\d+)""")

  private def number(page: String, pattern: String): Int =
    pattern.r.findFirstMatchIn(page).fold(0)(_.group(1).toInt)

  /** The row of an executor; empty without one. */
  private def row(page: String, executorId: String): String = {
    val begin = page.indexOf(s"<tr><td>$executorId</td>")
    if (begin < 0) "" else page.substring(begin, page.indexOf("</tr>", begin))
  }

  private def url(cluster: SparkCluster): String = cluster.sc.uiWebUrl.get + "/rdma-shuffle/"

  private def await(cluster: SparkCluster)(isReady: String => Boolean): String =
    awaitPage(url(cluster))(isReady)

  /** Executors send their figures from time to time. */
  private def awaitPage(url: String)(isReady: String => Boolean): String = eventually {
    val page = TabSuite.get(url)
    assert(isReady(page), page)
    page
  }
}

private object TabSuite {
  private val client =
    HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()

  def get(url: String): String =
    client.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString()).body
}
