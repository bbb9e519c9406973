// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Faults while two executors connect. */
private[faults] object ConnectionFaults {
  val all: Seq[FaultPoint] = seeded(
    Seq(
      onNewConnection(
        "the peer's address cannot be resolved",
        "the attempt fails at once; blocks that wait for it use TCP",
        Step.RESOLVED,
        Act.FAIL,
        counts = Set("fallback.connect-failed")
      ),
      onNewConnection(
        "a connection is refused",
        "the attempt fails at once; blocks that wait for it use TCP",
        Step.CONNECT,
        Act.REFUSE,
        counts = Set("fallback.connect-failed")
      ),
      onNewConnection(
        "a connection request is never answered",
        "after the connect time-out, blocks that wait for it use TCP",
        Step.CONNECT,
        Act.LOSE,
        counts = Set("fallback.connect-failed")
      ),
      onNewConnection(
        "a HELLO is lost at its receiver",
        "after the connect time-out, blocks that wait for it use TCP",
        Step.REQUEST_RECEIVED,
        Act.LOSE,
        counts = Set("fallback.connect-failed")
      ),
      onNewConnection(
        "a HELLO comes late",
        "blocks wait for it",
        Step.REQUEST_RECEIVED,
        Act.HOLD,
        argument = 400,
        counts = Set("connections.established")
      ),
      wrongHello("a HELLO is of no known version", garbledAt = 0),
      wrongHello("a HELLO is for another start of the executor", garbledAt = 4),
      wrongHello("a HELLO's proof is wrong", garbledAt = 40),
      onNewConnection(
        "the answer to a HELLO has a wrong proof",
        "the initiator ends the connection; blocks that wait for it use TCP",
        Step.ACCEPT,
        Act.GARBLE,
        argument = 40,
        counts = Set("fallback.refused")
      ),
      onNewConnection(
        "the answer to a HELLO is lost",
        "after the connect time-out, blocks that wait for it use TCP",
        Step.ACCEPT,
        Act.LOSE,
        counts = Set("fallback.connect-failed")
      ),
      onNewConnection(
        "both ends connect at once",
        "the request of one end is accepted; the other end drops its own",
        Step.CONNECT,
        Act.AWAIT_PEER,
        argument = "%dir/%self:%dir/%peer",
        counts = Set("connections.established")
      )
    )
  )

  private def wrongHello(name: String, garbledAt: Int): FaultPoint =
    onNewConnection(
      name,
      "the request is refused; blocks that wait for it use TCP",
      Step.CONNECT,
      Act.GARBLE,
      argument = garbledAt,
      counts = Set("fallback.refused", "connections.refused")
    )

  private def onNewConnection(
      name: String,
      outcome: String,
      step: Step,
      act: Act,
      argument: Any = "",
      counts: Set[String]
  ): FaultPoint = FaultPoint(
    name,
    outcome,
    Seq(
      rule(step, act, argument, chance = 1, maxFires = 1),
      rule(Step.READ, Act.DROP_CONNECTION, chance = 1, maxFires = 1)
    ),
    counts
  )
}
