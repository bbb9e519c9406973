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
        counts = Set("connections.closed")
      ),
      FaultPoint(
        "a RELEASE is garbled",
        "the server ends the connection, which ends the lease",
        Seq(rule(Step.RELEASE_RECEIVED, Act.GARBLE, chance = 1)),
        counts = Set("protocol.errors"),
        optionalReasons = Set("protocol-error")
      ),
      FaultPoint(
        "a RELEASED is lost",
        "the reader ends the connection in time",
        Seq(rule(Step.RELEASED_RECEIVED, Act.LOSE, chance = 1)),
        counts = Set("connections.closed")
      ),
      FaultPoint(
        "tasks are killed while their READs run",
        "their leases and sinks are released at once; the next attempts use them",
        Seq(rule(Step.READ, Act.HOLD, 600, chance = 1, maxFires = 4)),
        counts = Set("rdma.blocks.read"),
        killsTasks = true,
        retries = true,
        boundSeconds = 40
      )
    )
  )
}
