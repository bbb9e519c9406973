// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.nio.file.Files
import java.nio.file.Path

import scala.jdk.CollectionConverters._

/** Writes the results as JSON. */
private[scenarios] object FaultTable {

  /** A shorter bound would fail on a busy machine. */
  val LeastBoundSeconds = 10

  /** An executor that does not run for so long may cause time-outs of its own. */
  val PauseMs = 200L

  private val Engine = "soft"
  private val Where = "cluster"

  /** Writes the rows of a suite; SuitesIT merges those of all suites and unit tests.
    *
    * @param file
    *   name of the file, which no other suite writes
    */
  def writeRows(file: String, results: Seq[FaultResult]): Unit = {
    val folder = Files.createDirectories(Path.of(sys.props("it.fault.rows")))
    Files.write(folder.resolve(file), rows(results).asJava): Unit
  }

  private def rows(results: Seq[FaultResult]): Seq[String] =
    results.map { r =>
      val reasons = r.reasons.toSeq.sorted.map { case (k, v) => s"${quoted(k)}:$v" }
      Seq(
        "name" -> quoted(r.name),
        "engine" -> quoted(Engine),
        "where" -> quoted(Where),
        "hits" -> r.hits.toString,
        "answerRight" -> r.answerRight.toString,
        "seconds" -> decimal(r.seconds),
        "boundSeconds" -> r.boundSeconds.toString,
        "blocksByRead" -> r.counter("rdma.blocks.read").toString,
        "blocksByTcp" -> r.counter("tcp.blocks.read").toString,
        "reasons" -> reasons.mkString("{", ",", "}"),
        "recovery" -> quoted(r.outcome)
      ).map { case (key, value) => s"${quoted(key)}:$value" }
        .mkString("  {", ",", "}")
    }

  private def decimal(value: Double): String = String.format(java.util.Locale.ROOT, "%.1f", value)

  private def quoted(text: String): String =
    "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
}
