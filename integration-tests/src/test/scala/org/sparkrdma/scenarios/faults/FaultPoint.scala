// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Rule
import org.sparkrdma.scenarios.faults.plan.Step

/** A fault that fires while blocks are in flight.
  *
  * @param name
  *   completes a sentence that begins with "when"
  * @param rules
  *   the first is the fault, the others prepare it; each must fire
  * @param claims
  *   promised growth of counters
  * @param mayAlso
  *   further reasons for which blocks may use TCP
  * @param leastSeconds
  *   asserted of the time to the answer
  * @param boundSeconds
  *   asserted of the time to the answer
  * @param onOneExecutor
  *   whether it fires in one executor only
  * @param readsOnOneExecutor
  *   whether that executor reads all blocks
  * @param pausesExecutor
  *   whether the fault itself stops an executor for a while
  * @param runsTwice
  *   whether the fault may be met only after the last block of a job
  * @param retries
  *   the tasks and stages that Spark repeats
  * @param serve
  *   the way in which servers serve: with `auto` no file is registered where the measured prices
  *   say that it does not pay
  * @param nightly
  *   whether daily runs leave it out, because they have another fault that a reader treats in the
  *   same way: the same claims, the same reasons. At which step it happens is the matter of the
  *   transport's own tests.
  */
private[faults] final case class FaultPoint(
    name: String,
    rules: Seq[Rule],
    claims: Seq[Claim],
    mayAlso: Set[String] = Set.empty,
    leastSeconds: Double = 0,
    boundSeconds: Int = FaultPoint.LeastBoundSeconds,
    killsTasks: Boolean = false,
    onOneExecutor: Boolean = false,
    readsOnOneExecutor: Boolean = false,
    pausesExecutor: Boolean = false,
    runsTwice: Boolean = false,
    retries: FaultPoint.Retries = FaultPoint.NoRetry,
    after: FaultPoint.After = FaultPoint.AllByRead,
    serve: String = "auto",
    nightly: Boolean = false
) {

  /** The reasons for which blocks may use TCP. */
  def reasons: Set[String] = mayAlso ++ claims.map(_.counter).collect {
    case c if c.startsWith(Claim.Fallback) => c.stripPrefix(Claim.Fallback)
  }
}

private[faults] object FaultPoint {

  /** A shorter bound would fail on a busy machine. */
  val LeastBoundSeconds = 10

  /** An executor that does not run for so long may cause time-outs of its own. */
  val PauseMs = 200L

  /** Blocks use TCP for these reasons when an executor does not run for a while. */
  val OfPauses: Set[String] = Set(
    "quarantined",
    "lost-peer",
    "read-error",
    "timeout",
    "connect-failed",
    "peer-overloaded",
    // The attempt after the pause goes on beside TCP.
    "slow-peer"
  )

  /** Blocks use TCP for these reasons after the end of a connection, and of a second one. */
  val ConnectionEnds: Set[String] = Set("lost-peer", "read-error", "quarantined")

  /** Tasks that fail or are killed, and stages that are retried. */
  sealed trait Retries

  case object NoRetry extends Retries

  /** Tasks end without success, no stage is retried. */
  case object TasksRepeated extends Retries

  /** Spark recomputes map outputs. */
  case object StagesRetried extends Retries

  sealed trait After

  /** The fault is over: every block is read by READ again. */
  case object AllByRead extends After

  /** The next fault needs the cluster in its present state. */
  case object Nothing extends After

  /** An executor is lost, and Spark starts another. */
  case object OtherExecutor extends After

  /** The executor with the fault has no RDMA any more; it is replaced. */
  case object Replace extends After

  /** Time-outs are one second; the wait may begin just before the fault fires. */
  val NearlyASecond = 0.9

  val HeldMs = 400
  val LeastHeldSeconds = 0.35

  /** A connection ends. A new one may follow after the job, when the peer is quarantined. */
  val Replaced: Seq[Claim] = Seq(Claim.grows("connections.closed"))

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

  /** A message or READ that is lost or too late. */
  def untimely(name: String, step: Step, act: Act, argument: Any = ""): FaultPoint = FaultPoint(
    name,
    Seq(rule(step, act, argument, chance = 0.3)),
    claims = Seq(
      Claim.byTcp("timeout"),
      Claim.grows("connections.closed")
    ),
    mayAlso = ConnectionEnds + "quarantined",
    leastSeconds = NearlyASecond
  )

  /** A message that breaks the protocol. */
  def garbled(name: String, step: Step, argument: Any = "", chance: Double = 0.3): FaultPoint =
    FaultPoint(
      name,
      Seq(rule(step, Act.GARBLE, argument, chance)),
      // Not that a connection is established: the peer may be quarantined for the rest of the job.
      claims = Seq(Claim.upToHits("protocol.errors"), Claim.grows("connections.closed")),
      mayAlso = ConnectionEnds ++ Set("protocol-error", "quarantined")
    )

  /** A message or READ that is slow but arrives in time. */
  def slow(name: String, step: Step): FaultPoint = FaultPoint(
    name,
    Seq(rule(step, Act.HOLD, HeldMs, chance = 0.3)),
    claims = Claim.AllByRead,
    leastSeconds = LeastHeldSeconds
  )
}
