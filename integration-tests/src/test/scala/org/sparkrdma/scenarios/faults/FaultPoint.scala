// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Rule
import org.sparkrdma.scenarios.faults.plan.Step

/** A fault that fires while blocks are in flight.
  *
  * @param name
  *   completes a sentence that begins with "when"
  * @param outcome
  *   the result, as text
  * @param rules
  *   the first is the fault, the others prepare it; each must fire
  * @param counts
  *   counters that must grow
  * @param optionalReasons
  *   further reasons for which blocks may use TCP
  * @param boundSeconds
  *   asserted of the time to the answer: at most ten times the time on docs/faults.md, but not less
  *   than the default
  * @param onOneExecutor
  *   whether it fires in one executor only
  * @param readsOnOneExecutor
  *   whether that executor reads all blocks
  * @param retries
  *   whether tasks may fail and stages may be retried
  */
private[faults] final case class FaultPoint(
    name: String,
    outcome: String,
    rules: Seq[Rule],
    counts: Set[String],
    optionalReasons: Set[String] = Set.empty,
    boundSeconds: Int = FaultTable.LeastBoundSeconds,
    job: FaultJob = FaultJob.Usual,
    killsTasks: Boolean = false,
    onOneExecutor: Boolean = false,
    readsOnOneExecutor: Boolean = false,
    retries: Boolean = false,
    after: FaultPoint.After = FaultPoint.AllByRead
) {
  def reasons: Set[String] =
    FaultPoint.Always ++ optionalReasons ++ counts.collect {
      case c if c.startsWith("fallback.") => c.stripPrefix("fallback.")
    }
}

private[faults] object FaultPoint {

  /** Both executors share one connection, so its end also ends other requests. Time-outs are short,
    * so a busy machine causes some.
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

  /** The fault is over: every block is read by READ again. */
  case object AllByRead extends After

  /** The next fault needs the cluster in its present state. */
  case object Nothing extends After

  /** An executor is lost, and Spark starts another. */
  case object OtherExecutor extends After

  /** The executor with the fault has no RDMA any more; it is replaced. */
  case object Replace extends After

  val UsesTcp = "its blocks use TCP"
  val Reissued = "open requests of the connection are reissued on a new one"

  /** A rule for a step that fires at most `maxFires` times. */
  def rule(
      step: Step,
      act: Act,
      argument: Any = "",
      chance: Double = 0.5,
      maxFires: Int = 2
  ): Rule = new Rule(step, act, argument.toString, chance, maxFires, 0)

  /** Gives each fault a seed from its name. */
  def seeded(points: Seq[FaultPoint]): Seq[FaultPoint] =
    points.map { point =>
      val rules = point.rules.zipWithIndex.map { case (rule, i) =>
        rule.withSeed(31L * point.name.hashCode + i)
      }
      point.copy(rules = rules)
    }

  /** A message or READ that is lost, garbled or too late. */
  def untimely(
      name: String,
      step: Step,
      act: Act,
      counter: String,
      argument: Any = ""
  ): FaultPoint = FaultPoint(
    name,
    if (act == Act.GARBLE) s"the connection ends; $Reissued"
    else "the request times out; " + UsesTcp,
    Seq(rule(step, act, argument, chance = 0.3)),
    counts = Set(counter),
    optionalReasons = if (act == Act.GARBLE) Set("protocol-error") else Set.empty
  )

  /** A message or READ that is slow but arrives in time. */
  def slow(name: String, step: Step): FaultPoint = FaultPoint(
    name,
    "the request waits for it",
    Seq(rule(step, Act.HOLD, 400, chance = 0.3)),
    counts = Set("rdma.blocks.read")
  )
}
