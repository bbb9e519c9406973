// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step

/** Memory and files that cannot be registered; the first two find a cluster with nothing
  * registered.
  */
private[faults] object RegistrationFaults {
  private val Enomem = 12
  private val Efault = 14
  private val Forever = Int.MaxValue

  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "control buffers are refused with ENOMEM",
        Seq(rule(Step.REGISTER_CONTROL, Act.FAIL, Enomem, chance = 1, maxFires = Forever)),
        claims = Seq(
          Claim.byTcp("pool-empty"),
          Claim.never("connections.established"),
          Claim.never("rdma.blocks.read")
        ),
        mayAlso = Set("peer-busy"),
        after = FaultPoint.Nothing
      ),
      FaultPoint(
        "receive memory is refused with ENOMEM",
        Seq(rule(Step.REGISTER_SINKS, Act.FAIL, Enomem, chance = 1, maxFires = Forever)),
        claims = Seq(
          Claim.byTcp("pool-empty"),
          Claim.never("rdma.blocks.read")
        ),
        // Blocks wait for memory a hundred times as long here.
        boundSeconds = 40
      ),
      // A few refusals would not show copies: a window is tried again after 10 ms. Blocks wait for
      // windows that page on demand, and are copied only where there is none.
      FaultPoint(
        "a window is refused with ENOMEM",
        Seq(rule(Step.REGISTER_FILE, Act.FAIL, Enomem, chance = 1, maxFires = Forever)),
        claims = Claim.AllByRead :+ Claim.grows("serve.pieces.copy"),
        serve = "odp"
      ),
      FaultPoint(
        "a window is refused with EFAULT",
        Seq(rule(Step.REGISTER_FILE, Act.FAIL, Efault, chance = 1, maxFires = Forever)),
        claims = Claim.AllByRead :+ Claim.grows("serve.pieces.copy"),
        serve = "odp",
        nightly = true
      )
    )
  )
}
