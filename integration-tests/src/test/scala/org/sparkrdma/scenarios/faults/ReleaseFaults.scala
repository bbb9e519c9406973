// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Faults of the release of leases. */
private[faults] object ReleaseFaults {
  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "a RELEASE is lost",
        "the reader ends the connection in time, which ends the lease",
        Seq(rule(Step.RELEASE_RECEIVED, Act.LOSE, chance = 1)),
        claims = Claim.AllByRead ++
          Seq(Claim.grows("connections.closed"), Claim.never("serve.leases.expired"))
      ),
      FaultPoint(
        "a RELEASE is garbled",
        "the server ends the connection, which ends the lease",
        Seq(rule(Step.RELEASE_RECEIVED, Act.GARBLE, chance = 1)),
        claims = Seq(
          Claim.upToHits("protocol.errors"),
          Claim.never("serve.leases.expired"),
          Claim.grows("connections.closed")
        ),
        mayAlso = FaultPoint.ConnectionEnds ++ Set("protocol-error", "quarantined")
      ),
      FaultPoint(
        "a RELEASED is lost",
        "the reader ends the connection in time",
        Seq(rule(Step.RELEASED_RECEIVED, Act.LOSE, chance = 1)),
        claims = Claim.AllByRead :+ Claim.grows("connections.closed")
      ),
      FaultPoint(
        "tasks are killed while their READs run",
        "their leases and sinks are released at once; the next attempts use them",
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
