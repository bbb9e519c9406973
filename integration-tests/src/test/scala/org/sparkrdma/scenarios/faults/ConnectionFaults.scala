// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Faults while two executors connect. */
private[faults] object ConnectionFaults {
  // An attempt goes on beside TCP.
  private val Quarantined = Set("quarantined", "slow-peer")
  private val Failed = Seq(Claim.byTcp("connect-failed"))

  val all: Seq[FaultPoint] = seeded(
    Seq(
      onNewConnection(
        "the peer's address cannot be resolved",
        Step.RESOLVED,
        Act.FAIL,
        claims = Failed,
        mayAlso = Quarantined
      ).copy(nightly = true),
      onNewConnection(
        "a connection is refused",
        Step.CONNECT,
        Act.REFUSE,
        claims = Failed,
        mayAlso = Quarantined
      ),
      timesOut("a connection request is never answered", Step.CONNECT).copy(nightly = true),
      timesOut("an event of a connection request is lost", Step.CONNECT_REQUEST)
        .copy(nightly = true),
      timesOut("a connection is never accepted", Step.ACCEPT).copy(nightly = true),
      timesOut("a REQUEST is lost", Step.REQUEST_RECEIVED),
      timesOut("an ANSWER is lost", Step.ANSWER_RECEIVED).copy(nightly = true),
      comesLate("a connection request", Step.CONNECT_REQUEST),
      comesLate("a REQUEST", Step.REQUEST_RECEIVED).copy(nightly = true),
      wrongRequest("a REQUEST is of no known version", garbledAt = 1).copy(nightly = true),
      wrongRequest("a REQUEST is for another start of the executor", garbledAt = 8)
        .copy(nightly = true),
      wrongRequest("a REQUEST's proof is wrong", garbledAt = 40),
      onNewConnection(
        "an ANSWER has a wrong proof",
        Step.ANSWER_RECEIVED,
        Act.GARBLE,
        argument = 24,
        claims = Seq(
          Claim.byTcp("refused"),
          Claim.never("connections.refused")
        ),
        mayAlso = Quarantined
      )
    )
  )

  private def timesOut(name: String, step: Step): FaultPoint =
    onNewConnection(
      name,
      step,
      Act.LOSE,
      claims = Failed,
      mayAlso = Quarantined
    ).copy(leastSeconds = FaultPoint.NearlyASecond)

  private def comesLate(what: String, step: Step): FaultPoint =
    onNewConnection(
      s"$what comes late",
      step,
      Act.HOLD,
      argument = FaultPoint.HeldMs,
      claims = Seq(
        Claim.grows("rdma.blocks.read"),
        Claim.grows("connections.established"),
        Claim.never("peers.quarantined")
      )
    ).copy(leastSeconds = FaultPoint.LeastHeldSeconds)

  private def wrongRequest(name: String, garbledAt: Int): FaultPoint =
    onNewConnection(
      name,
      Step.REQUEST_RECEIVED,
      Act.GARBLE,
      argument = garbledAt,
      claims = Seq(
        Claim.byTcp("refused"),
        Claim.eachHit("connections.refused")
      ),
      mayAlso = Quarantined
    )

  /** A READ drops the connection, so that a new one is needed. */
  private def onNewConnection(
      name: String,
      step: Step,
      act: Act,
      argument: Any = "",
      claims: Seq[Claim],
      mayAlso: Set[String] = Set.empty
  ): FaultPoint = FaultPoint(
    name,
    Seq(
      rule(step, act, argument, chance = 1, maxFires = 1),
      rule(Step.READ, Act.DROP_CONNECTION, chance = 1, maxFires = 1)
    ),
    claims,
    mayAlso ++ FaultPoint.ConnectionEnds,
    runsTwice = true
  )
}
