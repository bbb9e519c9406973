// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Using

/** A History Server in its own process, with or without the plug-in on its class path. Closed by
  * its creator.
  */
private[scenarios] final class HistoryServer private (process: SparkJvm) extends AutoCloseable {

  /** The tab of an application, once the server listens. */
  def url(applicationId: String): String = url(applicationId, "rdma-shuffle")

  /** A page of an application, once the server listens. */
  def url(applicationId: String, tab: String): String = {
    assert(process.alive, "the History Server ended: " + process.printed)
    val started = process.logged(HistoryServer.Started)
    assert(started.isDefined, "the History Server does not listen yet: " + process.printed)
    s"http://127.0.0.1:${started.get.group(1)}/history/$applicationId/$tab/"
  }

  /** Lines of WARN and ERROR in its log so far. */
  def warnings: Seq[String] = process.warnings

  override def close(): Unit = process.kill()
}

private[scenarios] object HistoryServer {

  /** Up to the end of the line: while Spark writes it, the log may end amid the port. */
  private val Started = """started at http://\S+:([0-9]+)\R""".r

  /** Starts it.
    *
    * @param logs
    *   directory with event logs
    * @param jars
    *   on its class path
    */
  def start(logs: Path, jars: Seq[String] = Seq(sys.props("it.plugin.jar"))): HistoryServer = {
    val settings = Files.createTempFile("history", ".properties")
    Files.writeString(
      settings,
      s"""spark.history.fs.logDirectory=${logs.toUri}
         |spark.history.fs.update.interval=1s
         |spark.history.ui.port=0
         |spark.eventLog.compress=false
         |spark.history.fs.eventLog.rolling.maxFilesToRetain=1
         |spark.history.fs.eventLog.rolling.compaction.score.threshold=0
         |""".stripMargin
    )
    val arguments = Seq("--properties-file", settings.toString)
    new HistoryServer(
      SparkJvm.start("history", "org.apache.spark.deploy.history.HistoryServer", arguments, jars)
    )
  }

  /** Writes a log as several files, which a History Server compacts.
    *
    * @param lines
    *   of its events
    */
  def writeRolled(logs: Path, applicationId: String, lines: Seq[String]): Unit = {
    val directory = Files.createDirectories(logs.resolve("eventlog_v2_" + applicationId))
    Using.resource(Files.list(directory))(_.iterator.asScala.toSeq).foreach(Files.delete(_))
    Files.createFile(directory.resolve("appstatus_" + applicationId))
    // Spark keeps the last file as it is.
    val files = lines.dropRight(2).grouped(1 + lines.size / 3).toSeq :+ lines.takeRight(2)
    files.zipWithIndex.foreach { case (part, i) =>
      Files.write(directory.resolve(s"events_${i + 1}_$applicationId"), part.asJava)
    }
  }

  /** Whether a History Server has compacted a log. */
  def isCompacted(logs: Path, applicationId: String): Boolean =
    Using.resource(Files.list(logs.resolve("eventlog_v2_" + applicationId)))(
      _.iterator.asScala.exists(_.toString.endsWith(".compact"))
    )
}
