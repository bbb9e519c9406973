// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Rule
import org.sparkrdma.scenarios.faults.plan.Step

/** Something that goes wrong while blocks are under way.
  *
  * @param name
  *   as it ends a sentence that begins with "when"
  * @param so
  *   what comes of it, in words
  * @param rules
  *   the first is the fault, the others bring it about; each must strike
  * @param counts
  *   the counters that must tell of it
  * @param may
  *   reasons of this fault for which blocks may go by TCP beside those
  * @param onOne
  *   whether it strikes one executor only
  * @param readsOnOne
  *   whether that executor is to read all blocks
  * @param retries
  *   whether tasks may fail and stages be tried again
  */
private[faults] final case class FaultPoint(
    name: String,
    so: String,
    rules: Seq[Rule],
    counts: Set[String],
    may: Set[String] = Set.empty,
    boundSeconds: Int = 20,
    job: FaultJob = FaultJob.Usual,
    killsTasks: Boolean = false,
    onOne: Boolean = false,
    readsOnOne: Boolean = false,
    retries: Boolean = false,
    after: FaultPoint.After = FaultPoint.AllByRead
) {
  def reasons: Set[String] =
    FaultPoint.Always ++ may ++ counts.collect {
      case c if c.startsWith("fallback.") => c.stripPrefix("fallback.")
    }
}

private[faults] object FaultPoint {

  /** Both share one connection, so what ends it ends other requests as well; and time-outs are so
    * short that a busy machine has some of its own.
    */
  private val Always =
    Set(
      "quarantined",
      "lost-peer",
      "read-error",
      "timeout",
      "connect-failed",
      "peer-overloaded"
    )

  sealed trait After

  /** Nothing is left of it: soon every block comes by READ again. */
  case object AllByRead extends After

  /** The next fault needs it as it is. */
  case object Nothing extends After

  /** An executor is lost, and Spark starts another. */
  case object OtherExecutor extends After

  /** The executor that was struck has no RDMA any more; it is replaced. */
  case object Replace extends After

  val ByTcp = "its blocks go by TCP"
  val OnNew = "what it took along is asked for again on a new connection"

  /** Something that goes wrong at a step, at most so many times. */
  def rule(
      step: Step,
      act: Act,
      argument: Any = "",
      chance: Double = 0.5,
      most: Int = 2
  ): Rule = new Rule(step, act, argument.toString, chance, most, 0)

  /** With seeds by their names, so that no two are alike. */
  def seeded(points: Seq[FaultPoint]): Seq[FaultPoint] =
    points.map { point =>
      val rules = point.rules.zipWithIndex.map { case (rule, i) =>
        rule.withSeed(31L * point.name.hashCode + i)
      }
      point.copy(rules = rules)
    }

  /** Something that is lost, garbled or too late. */
  def untimely(
      name: String,
      step: Step,
      act: Act,
      counter: String,
      argument: Any = ""
  ): FaultPoint = FaultPoint(
    name,
    if (act == Act.GARBLE) s"the connection is ended, $OnNew"
    else "the request times out, " + ByTcp,
    Seq(rule(step, act, argument, chance = 0.3)),
    counts = Set(counter),
    may = if (act == Act.GARBLE) Set("protocol-error") else Set.empty
  )

  /** Something that takes its time, but not too long. */
  def slow(name: String, step: Step): FaultPoint = FaultPoint(
    name,
    "it is waited for",
    Seq(rule(step, Act.HOLD, 400, chance = 0.3)),
    counts = Set("rdma.blocks.read")
  )
}
