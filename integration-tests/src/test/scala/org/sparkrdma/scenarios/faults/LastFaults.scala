// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Faults after which an executor does not use RDMA until it has started it again. */
private[faults] object LastFaults {

  /** The executor withdraws its endpoint; until then its peer tries to connect. */
  private val Withdrawn =
    Set("unavailable", "no-endpoint", "connect-failed", "quarantined") ++ FaultPoint.ConnectionEnds

  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "the completion queue overruns",
        Seq(rule(Step.READ, Act.OVERRUN, chance = 0.2, maxFires = 1)),
        claims = Seq(Claim.byTcp("stopped"), Claim.grows("connections.closed")),
        mayAlso = Withdrawn,
        onOneExecutor = true,
        after = FaultPoint.Replace,
        nightly = true
      ),
      FaultPoint(
        "the device is removed",
        Seq(rule(Step.READ, Act.REMOVE_DEVICE, chance = 0.2, maxFires = 1)),
        claims = Seq(Claim.byTcp("stopped"), Claim.grows("connections.closed")),
        mayAlso = Withdrawn,
        onOneExecutor = true,
        after = FaultPoint.Nothing
      )
    )
  )
}
