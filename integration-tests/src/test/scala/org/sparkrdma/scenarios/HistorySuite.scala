// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.ObjectMapper

/** Event logs of an earlier, this and a later version of the plug-in, in History Servers without
  * its jar and with this one.
  */
final class HistorySuite extends ScenarioSuite {
  private val Event = "\"Event\":\"org.sparkrdma.shuffle.ui.RdmaShuffleEvent\",\"schema\":"
  private val Tab = "RDMA shuffle"
  private val LaterNote = "a later version of the plug-in wrote this log"

  /** Written by the plug-in of November 2026 with Spark 4.2.0, by an application that lost an
    * executor; every later version must replay it. Of Spark's own events those that the tab uses
    * are kept, with few properties of the environment; the name of the user is another.
    */
  private val FrozenId = "app-20261123020920-0000"

  /** Frozen logs with parts of their tabs. */
  private val Frozen = Seq(
    FrozenId -> Seq(
      "106.3\u00a0MiB over RDMA",
      "<td>lost: Command exited with code 137</td>",
      "<tr><td>1</td><td>192.0.2.2</td><td>",
      "192.0.2.2:45753"
    ),
    // Of 24 November 2026, whose events with totals are ignored, in the same way: ten executors.
    "app-20261124215612-0000" -> Seq(
      "809.6\u00a0KiB over RDMA",
      "<td>connect-failed</td>",
      "192.0.2.2:37191"
    ),
    // Of 28 November 2026, compacted by Spark: an executor has ended.
    "app-20261128122334-0000" -> Seq(
      "24.7\u00a0MiB over RDMA",
      "29.5\u00a0MiB from local disks",
      "<tr><td>0</td><td>192.0.2.2</td><td>lost: Command exited with code 137</td>"
    )
  )

  /** The first one, compacted by Spark, which drops its own events about the executor that was
    * lost.
    */
  private val CompactedId = FrozenId + "-compacted"

  private val CompactedParts = Seq(
    "106.3\u00a0MiB over RDMA",
    "up in 1 of 1 executors at the end",
    "<tr><td>0</td><td></td><td>compacted</td>",
    "Spark has compacted this event log"
  )

  private lazy val logs = Files.createTempDirectory("event-logs")

  private lazy val (id, remoteBytes) = runOnce()

  private lazy val frozenLogs: Seq[Path] = Frozen.map { case (frozen, _) =>
    val log = logs.resolve(frozen)
    Using.resource(classOf[HistorySuite].getResourceAsStream(s"event-log-$frozen"))(
      Files.copy(_, log)
    ): Unit
    log
  }

  private lazy val laterId = {
    val text = Files.readString(logs.resolve(id))
    assert(text.contains(Event + "1,"), "this version has another schema: add a frozen log of it")
    val later = "\"shape\":{\"of\":[1,null]},\"zeal\":\"high\",\"count\":-1.5e300,\"none\":null,"
    val laterId = id + "-later"
    Files.writeString(
      logs.resolve(laterId),
      text.replace(Event + "1,", Event + "7," + later).replace(id, laterId)
    )
    laterId
  }

  private lazy val ids = Seq(id, laterId) ++ Frozen.map(_._1)

  test("should have all bytes of a short application that stops right after its job") {
    assert(remoteBytes > 0)
    val read = s"readBytes=$remoteBytes copiedBytes="
    val summaries = Files.readString(Path.of(sys.env("IT_LOG"))).linesIterator
    assert(summaries.exists(line => line.contains("Shuffle of this application: " + read)), read)
    val events = Files.readString(logs.resolve(id)).linesIterator.filter(_.contains(Event)).toSeq
    assert(bytesByRead(events) === remoteBytes, events)
  }

  test("should be replayed without the jar, with one WARN for each log") {
    val server = HistoryServer.start(allLogs(), jars = Nil)
    try {
      ids.foreach { application =>
        assert(page(server, application, "executors").contains("Executors"))
        assert(!page(server, application, "jobs").contains(Tab))
      }
      val ours = server.warnings
        .filter(_.toLowerCase.contains("rdma"))
        .filterNot(_.contains("[log-compact-"))
      assert(ours.size === ids.size, server.warnings)
      assert(ours.forall(_.contains("Drop unrecognized event")), ours)
      assertNoError(server)
    } finally server.close()
  }

  test("should be replayed with this jar, without a WARN") {
    val server = HistoryServer.start(allLogs(), Seq(sys.props("it.plugin.jar")))
    try {
      ids.foreach { application =>
        assert(page(server, application, "jobs").contains(Tab))
        val tab = page(server, application, "rdma-shuffle")
        assert(tab.contains("(soft)</td>"), tab)
        assert("&#9632;</span> [1-9]".r.findFirstIn(tab).isDefined, tab)
        assert(tab.contains(LaterNote) === (application == laterId), tab)
      }
      assert(server.warnings.filter(_.toLowerCase.contains("rdma")).isEmpty, server.warnings)
      eventually(assert(HistoryServer.isCompacted(logs, CompactedId)))
      (Frozen :+ (CompactedId -> CompactedParts)).foreach { case (frozen, parts) =>
        val tab = page(server, frozen, "rdma-shuffle")
        parts.foreach(part => assert(tab.contains(part), tab))
      }
      assertNoError(server)
    } finally server.close()
  }

  private def assertNoError(server: HistoryServer): Unit =
    assert(!server.warnings.exists(_.contains(" ERROR ")), server.warnings)

  private def allLogs(): Path = {
    assert(Files.exists(logs.resolve(laterId)) && frozenLogs.forall(Files.exists(_)))
    val frozen = Files.readString(frozenLogs.head).replace(FrozenId, CompactedId)
    HistoryServer.writeRolled(logs, CompactedId, frozen.linesIterator.toSeq)
    logs
  }

  /** A page of an application, as soon as the server has read its log. */
  private def page(server: HistoryServer, application: String, tab: String): String = eventually {
    val answer = Http.get(server.url(application, tab))
    assert(answer.statusCode === 200, answer.body)
    answer.body
  }

  /** The last value of each executor in the plug-in's events, added up. */
  private def bytesByRead(events: Seq[String]): Long =
    events
      .flatMap(event => new ObjectMapper().readTree(event).path("executors").asScala)
      .map(executor => executor.asScala.map(_.asText).toSeq)
      .filter(_.contains("read"))
      .map(values => values.head -> values(values.indexOf("read") + 1).toLong)
      .toMap
      .values
      .sum

  /** Runs an application that stops right after its job, with the name that SparkRDMA used; returns
    * its id and the bytes that its tasks have read of other executors.
    */
  private def runOnce(): (String, Long) = {
    val conf = Clusters
      .soft()
      .set("spark.shuffle.manager", "org.apache.spark.shuffle.rdma.RdmaShuffleManager")
      .set("spark.ui.enabled", "true")
      .set("spark.ui.port", "0")
      .set("spark.eventLog.enabled", "true")
      .set("spark.eventLog.rolling.enabled", "false")
      .set("spark.eventLog.compress", "false")
      .set("spark.eventLog.dir", logs.toUri.toString)
    val cluster = SparkCluster.start(conf)
    val applicationId = cluster.sc.applicationId
    val answer =
      try Jobs.groupBy(cluster.spark)
      finally cluster.close()
    assert(answer === Jobs.groupByAnswer)
    (applicationId, cluster.log.remoteBytesRead)
  }
}
