// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Faults while two executors connect. */
private[faults] object ConnectionFaults {
  private val WaitingUseTcp =
    "blocks that wait for it use TCP, as do others while the peer is quarantined"
  private val Quarantined = Set("quarantined")
  private val Failed = Seq(Claim.byTcp("connect-failed"), Claim.grows("peers.quarantined"))

  val all: Seq[FaultPoint] = seeded(
    Seq(
      onNewConnection(
        "the peer's address cannot be resolved",
        s"the attempt fails; $WaitingUseTcp",
        Step.RESOLVED,
        Act.FAIL,
        claims = Failed,
        mayAlso = Quarantined
      ),
      onNewConnection(
        "a connection is refused",
        s"the attempt fails; $WaitingUseTcp",
        Step.CONNECT,
        Act.REFUSE,
        claims = Failed,
        mayAlso = Quarantined
      ),
      timesOut("a connection request is never answered", Step.CONNECT),
      timesOut("a HELLO is lost at its receiver", Step.REQUEST_RECEIVED),
      onNewConnection(
        "a HELLO comes late",
        "blocks wait for it",
        Step.REQUEST_RECEIVED,
        Act.HOLD,
        argument = FaultPoint.HeldMs,
        claims = Seq(
          Claim.grows("rdma.blocks.read"),
          Claim.grows("connections.established"),
          Claim.never("peers.quarantined")
        )
      ).copy(leastSeconds = FaultPoint.LeastHeldSeconds),
      wrongHello("a HELLO is of no known version", garbledAt = 0),
      wrongHello("a HELLO is for another start of the executor", garbledAt = 4),
      wrongHello("a HELLO's proof is wrong", garbledAt = 40),
      onNewConnection(
        "the answer to a HELLO has a wrong proof",
        s"the initiator rejects it; $WaitingUseTcp",
        Step.ACCEPT,
        Act.GARBLE,
        argument = 40,
        claims = Seq(
          Claim.byTcp("refused"),
          Claim.never("connections.refused"),
          Claim.grows("peers.quarantined")
        ),
        mayAlso = Quarantined
      ),
      timesOut("the answer to a HELLO is lost", Step.ACCEPT),
      onNewConnection(
        "both ends connect at once",
        "the request of one end is accepted; that of the other is refused",
        Step.CONNECT,
        Act.AWAIT_PEER,
        argument = "%dir/%self:%dir/%peer",
        claims = Seq(
          Claim.grows("connections.collided"),
          Claim.grows("connections.established"),
          Claim.never("connections.refused"),
          Claim.never("peers.quarantined")
        )
      )
    )
  )

  private def timesOut(name: String, step: Step): FaultPoint =
    onNewConnection(
      name,
      s"after the connect time-out, $WaitingUseTcp",
      step,
      Act.LOSE,
      claims = Failed,
      mayAlso = Quarantined
    ).copy(leastSeconds = FaultPoint.NearlyASecond)

  private def wrongHello(name: String, garbledAt: Int): FaultPoint =
    onNewConnection(
      name,
      s"the request is refused; $WaitingUseTcp",
      Step.CONNECT,
      Act.GARBLE,
      argument = garbledAt,
      claims = Seq(
        Claim.byTcp("refused"),
        Claim.eachHit("connections.refused"),
        Claim.grows("peers.quarantined")
      ),
      mayAlso = Quarantined
    )

  /** A READ drops the connection, so that a new one is needed. */
  private def onNewConnection(
      name: String,
      outcome: String,
      step: Step,
      act: Act,
      argument: Any = "",
      claims: Seq[Claim],
      mayAlso: Set[String] = Set.empty
  ): FaultPoint = FaultPoint(
    name,
    outcome,
    Seq(
      rule(step, act, argument, chance = 1, maxFires = 1),
      rule(Step.READ, Act.DROP_CONNECTION, chance = 1, maxFires = 1)
    ),
    claims,
    mayAlso ++ FaultPoint.ConnectionEnds
  )
}
