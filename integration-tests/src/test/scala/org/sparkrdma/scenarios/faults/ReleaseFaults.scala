// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Faults of the release of leases. */
private[faults] object ReleaseFaults {

  /** The connection ends when a RELEASE is not answered in time; blocks in flight then use TCP. */
  private val EndsAtTimeOut = FaultPoint.ConnectionEnds + "timeout"

  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "a RELEASE is lost",
        Seq(rule(Step.RELEASE_RECEIVED, Act.LOSE, chance = 1)),
        claims = Seq(
          Claim.grows("rdma.blocks.read"),
          Claim.grows("connections.closed"),
          Claim.never("serve.leases.expired")
        ),
        mayAlso = EndsAtTimeOut,
        runsTwice = true
      ),
      FaultPoint(
        "a RELEASE is garbled",
        Seq(rule(Step.RELEASE_RECEIVED, Act.GARBLE, chance = 1)),
        claims = Seq(
          Claim.upToHits("protocol.errors"),
          Claim.never("serve.leases.expired"),
          Claim.grows("connections.closed")
        ),
        mayAlso = FaultPoint.ConnectionEnds + "protocol-error",
        runsTwice = true
      ),
      FaultPoint(
        "a RELEASED is lost",
        Seq(rule(Step.RELEASED_RECEIVED, Act.LOSE, chance = 1)),
        claims = Seq(Claim.grows("rdma.blocks.read"), Claim.grows("connections.closed")),
        mayAlso = EndsAtTimeOut,
        runsTwice = true,
        nightly = true
      ),
      FaultPoint(
        "tasks are killed while their READs run",
        // A request may be held twice, as LOCATE and as READ, without a time-out.
        Seq(rule(Step.READ, Act.HOLD, FaultPoint.HeldMs, chance = 1, maxFires = 4)),
        claims = Claim.AllByRead :+ Claim.never("serve.leases.expired"),
        killsTasks = true,
        retries = FaultPoint.TasksRepeated,
        boundSeconds = 30
      )
    )
  )
}
