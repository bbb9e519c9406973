// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios

import java.net.InetAddress
import java.net.ServerSocket
import java.nio.file.Files
import java.nio.file.Path
import scala.util.Using

/** A History Server in its own process, with or without the plug-in on its class path. Closed by
  * its creator.
  */
private[scenarios] final class HistoryServer private (process: SparkJvm, port: Int)
    extends AutoCloseable {

  /** The tab of an application. */
  def url(applicationId: String): String = url(applicationId, "rdma-shuffle")

  /** A page of an application. */
  def url(applicationId: String, tab: String): String =
    s"http://127.0.0.1:$port/history/$applicationId/$tab/"

  /** Lines of WARN and ERROR in its log so far. */
  def warnings: Seq[String] = process.warnings

  override def close(): Unit = process.kill()
}

private[scenarios] object HistoryServer {

  /** Starts it.
    *
    * @param logs
    *   directory with event logs
    * @param jars
    *   on its class path
    */
  def start(logs: Path, jars: Seq[String] = Seq(sys.props("it.plugin.jar"))): HistoryServer = {
    val port = freePort()
    val settings = Files.createTempFile("history", ".properties")
    Files.writeString(
      settings,
      s"""spark.history.fs.logDirectory=${logs.toUri}
         |spark.history.fs.update.interval=1s
         |spark.history.ui.port=$port
         |""".stripMargin
    )
    val arguments = Seq("--properties-file", settings.toString)
    new HistoryServer(
      SparkJvm.start("history", "org.apache.spark.deploy.history.HistoryServer", arguments, jars),
      port
    )
  }

  private def freePort(): Int =
    Using.resource(new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1")))(_.getLocalPort)
}
