// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import java.nio.file.Files
import java.nio.file.Path
import java.time.LocalDate

import scala.jdk.CollectionConverters._

import org.sparkrdma.faults.FaultBound

/** Writes the results as JSON and as docs/faults.md. */
private[scenarios] object FaultTable {

  /** A shorter bound would fail on a busy machine. */
  val LeastBoundSeconds = 10

  /** The least bound of a fault during which no executor pauses. */
  private val LeastQuietBoundSeconds = FaultBound.OF_A_CLUSTER

  /** An executor that does not run for so long may cause time-outs of its own. */
  val PauseMs = 200L

  private val Engine = "soft"
  private val Where = "cluster"
  private val TimeOfRow = raw"\| (.*?) \|.* ([0-9.]+) of ([0-9]+) \|".r
  private val Shown = Seq(
    "serve.pieces.copy",
    "serve.leases.expired",
    "connections.established",
    "connections.collided",
    "connections.refused",
    "connections.closed",
    "peers.quarantined",
    "protocol.errors",
    "verify.corrupt",
    "verify.unusable-sums"
  )

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
      ).concat(
        r.recordedSeconds.toSeq
          .flatMap(s => Seq("recordedSeconds" -> decimal(s), "pauseMs" -> r.pauseMs.toString))
      ).map { case (key, value) => s"${quoted(key)}:$value" }
        .mkString("  {", ",", "}")
    }

  /** The columns that do not differ from run to run. */
  def stableColumns(page: String): Seq[Seq[String]] =
    page.linesIterator
      .dropWhile(!_.startsWith("| When"))
      .filter(_.startsWith("| "))
      .map(_.split(" \\| ").toSeq.take(3).map(_.stripPrefix("| ")))
      .toSeq

  /** Faults whose bound is more than ten times the time on the page, and above the least bound. */
  def looseBounds(page: String): Seq[String] =
    page.linesIterator.collect {
      case TimeOfRow(fault, seconds, bound)
          if bound.toInt > LeastBoundSeconds && bound.toInt > 10 * seconds.toDouble =>
        s"$fault: $seconds of $bound"
    }.toSeq

  /** Bounds by fault that hold when no executor pauses: ten times the time on the page, or more. */
  def quietBounds(page: String): Map[String, Double] =
    times(page).map { case (fault, seconds) =>
      fault -> (10 * seconds).max(LeastQuietBoundSeconds)
    }

  private def times(page: String): Map[String, Double] =
    page.linesIterator.collect { case TimeOfRow(fault, seconds, _) =>
      fault -> seconds.toDouble
    }.toMap

  /** The result with the lower of its bounds that was asserted, and with the time on the page. */
  def withAssertedBound(result: FaultResult, page: String): FaultResult = {
    val recorded = times(page).getOrElse(result.name, result.seconds)
    val quiet = (10 * recorded).max(LeastQuietBoundSeconds).round.toInt
    val isQuiet = result.pauseMs < PauseMs
    result.copy(
      boundSeconds = if (isQuiet) quiet.min(result.boundSeconds) else result.boundSeconds,
      recordedSeconds = Some(recorded)
    )
  }

  def page(results: Seq[FaultResult], day: LocalDate): String = {
    val rows = results.map { r =>
      val counters = Shown.map(name => name -> r.counter(name)) ++
        Seq("failed tasks" -> r.failedTasks.toLong, "retried stages" -> r.retriedStages.toLong)
      val reasons = r.reasons.toSeq.sorted.map { case (k, v) => s"$k $v" }
      Seq(
        r.name,
        r.outcome,
        r.asserted,
        r.hits.toString,
        r.counter("rdma.blocks.read").toString,
        if (reasons.isEmpty) "0"
        else s"${r.counter("tcp.blocks.read")} (${reasons.mkString(", ")})",
        counters.collect { case (name, count) if count > 0 => s"$name $count" }.mkString(", "),
        s"${decimal(r.seconds)} of ${r.boundSeconds}"
      ).mkString("| ", " | ", " |")
    }
    val pause = results.map(_.pauseMs).max
    Head
      .replace("DATE", day.toString)
      .replace("PAUSE", pause.toString)
      .replace("LIMIT", PauseMs.toString) + rows.mkString("\n") + "\n"
  }

  private val Head =
    """# Faults
      |
      |<!-- Generated by FaultsSuite; do not edit. -->
      |
      |This page lists faults during the fetch of a block and their results. Run them all, and rewrite this
      |page, with
      |
      |```bash
      |./mvnw -Psuites verify -Dit.suites=FaultsSuite -Dupdate.docs=true
      |```
      |
      |The faults are injected in two executors on the loopback engine. Each fault is seeded and fires only
      |while a block is in flight. The answer is always that of Spark without the plug-in, within a time
      |bound. No task fails and no stage is retried, unless the second column says that Spark recomputes
      |something. Afterwards every block is read by RDMA READ again, and neither requests nor queue pairs of
      |the fault are left, except after faults that disable an executor's RDMA. Time-outs are one second,
      |leases three seconds.
      |
      |The figures are from the run of DATE:
      |
      || Column | Meaning |
      ||---|---|
      || Asserted | growth of counters that the test asserts of each fault, reasons of TCP without their prefix `fallback.`, and after *may* the only other reasons that it allows |
      || Hits | number of times that the fault fired |
      || By READ | blocks read by RDMA READ |
      || By TCP | blocks read by TCP, with the number for each reason ([metrics.md](metrics.md)) |
      || Counters | other counters that grew; tasks that failed or were killed, stages that were retried |
      || Seconds | time from the first firing to the answer, and the bound that the test asserts |
      |
      |The table leaves out the prefix `rdma.` of the metrics: `connections.closed` is the metric
      |`rdma.connections.closed` ([metrics.md](metrics.md)). Only `rdma.blocks.read` is in full.
      |
      |Only blocks of the other executor count. Their number depends on where Spark runs the tasks: about
      |half of the 144 blocks of a job. So the sum of both columns differs from row to row. Blocks that Spark
      |fetches again, because it recomputes map outputs or repeats a task, count again. A block whose TCP
      |fetch failed as well counts for its reason only. The reason `unavailable` counts shuffle reads of
      |Spark's own reader; their blocks are in neither column.
      |
      |An executor that does not run for a while causes time-outs of its own. When one pauses for LIMIT ms or
      |more during a fault (not by the fault itself), the test still asserts the lower limits, but also
      |allows the reasons of a time-out. The longest pause of this run was PAUSE ms.
      |
      |A bound is at most ten times the time on this page, or 10 s where that is more, because a busy machine
      |pauses processes for seconds. When no executor pauses in this way, the test also asserts a second
      |bound: ten times the time on this page, or 3 s where that is more, since the times differ from run to
      |run: the same fault took 0.1 s and 0.8 s.
      |
      |The rows of other tests (below) have one bound each: at most ten times the time that the row has, or,
      |where that is more, 1 s for `server` and `stub`, and 30 s for other scenarios and the guest, where
      |processes start or tasks are repeated. When pauses of the process of `server` or `stub` and waits of its
      |threads for a processor are 200 ms or more together, the bound is 10 s and that time, at most 30 s. The
      |build fails when a bound is higher.
      |
      |## Messages with wrong contents
      |
      |The faults change messages in the receiver's memory, behind the checks of network and card. Every
      |field that places a piece of a LOCATED is changed in turn. The reader checks the lengths and offsets
      |of an answer against each other. The peer's device checks key and range of each READ. An address that
      |stays in the window passes both: only the block's checksum finds it. So with
      |`spark.shuffle.rdma.verify=false`, and for blocks without a usable checksum, nothing in the plug-in
      |finds it. A changed block id in a LOCATE that names another block of the peer brings that block, with
      |checksums that match; messages have no checksum of their own, and rely on that of the network (ICRC of
      |RoCE and InfiniBand, CRC of iWARP). The last two statements follow from the code; no fault here shows
      |them.
      |
      |## All faults
      |
      |`./mvnw verify` merges the rows of these tests into `integration-tests/target/fault-table.json` and
      |fails when a test has another number of rows. A row has the fault, its recovery, the time, the bound, and in
      |`answerRight` whether a comparison of bytes or answers succeeded. In `server` and `stub` that is one
      |of the blocks and READs that completed under the fault, and `compared` is their number; without any
      |`answerRight` is `null`. `rightAfterwards` is the comparison of what was read after the fault: for
      |HostileServerTest a block that the same reader reads from an honest server, in `stub` a READ on a new
      |engine. HostilePeerTest has none: there an honest peer reads while the other one misbehaves.
      |The build also fails when a row says `true` and nothing was compared, when nothing was compared at
      |all, and when a fault of `server` or `stub` did not happen. `stub` needs a C compiler.
      |
      || `where` | Tests |
      ||---|---|
      || `cluster` | FaultsSuite (below). DecommissionSuite, DynamicAllocationSuite: executors that leave or start under load. DriverRestartSuite. UpgradeSuite: two versions of the jar. FullDiskSuite: ENOSPC while map outputs are written, sorted or read to disk (needs a mount namespace). FailingDiskSuite: EIO under map outputs (needs a C compiler). MemoryLimitSuite: executors at the limit of their control groups (needs a control group for memory that the user may divide, usually that of root) |
      || `server` | HostileServerTest, HostilePeerTest: peers of the application that send what they should not |
      || `stub` | ScriptedDeviceCallsTest, ScriptedDeviceLimitsTest, ScriptedDeviceAccessTest, ScriptedDeviceSetUpTest, ScriptedDeviceChangesTest, ScriptedDeviceGidsTest, ScriptedDeviceIwarpTest: a device whose calls fail, whose limits are low, whose events are lost, and whose ports and addresses fail, move or are removed ([devices.md](devices.md)) |
      || `guest` | SparkOnTwoKernelsIT, ContainerLimitIT: packets, links, cards, processes and memory of two kernels ([guest.md](guest.md)); only with `-Pguest` |
      |
      |## Faults during the fetch of a block
      |
      || When … | then … | Asserted | Hits | By READ | By TCP | Counters | Seconds |
      ||---|---|---|---|---|---|---|---|
      |""".stripMargin

  private def decimal(value: Double): String = String.format(java.util.Locale.ROOT, "%.1f", value)

  private def quoted(text: String): String =
    "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
}
