// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.UsesTcp
import org.sparkrdma.scenarios.faults.FaultPoint.Reissued
import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.FaultPoint.slow
import org.sparkrdma.scenarios.faults.FaultPoint.untimely
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** Faults of READs. */
private[faults] object ReadFaults {
  val all: Seq[FaultPoint] = seeded(
    WorkStatus.values.toSeq.filterNot(Set(WorkStatus.SUCCESS, WorkStatus.FLUSH_ERROR)).map {
      status =>
        FaultPoint(
          s"a READ ends with $status",
          s"$UsesTcp; $Reissued",
          Seq(rule(Step.READ, Act.FAIL, status, chance = 0.2)),
          counts = Set("fallback.read-error")
        )
    } ++ Seq(
      FaultPoint(
        "a READ is flushed",
        s"the connection is lost; $Reissued",
        Seq(rule(Step.READ, Act.FAIL, WorkStatus.FLUSH_ERROR, chance = 0.2)),
        counts = Set("connections.closed")
      ),
      FaultPoint(
        "the connection is lost under a READ",
        Reissued,
        Seq(rule(Step.READ, Act.DROP_CONNECTION, chance = 0.2)),
        counts = Set("connections.closed")
      ),
      slow("a READ is slow", Step.READ),
      untimely("a READ hangs", Step.READ, Act.LOSE, "fallback.timeout").copy(boundSeconds = 20),
      untimely(
        "a READ lands after its deadline",
        Step.READ,
        Act.LAND_LATE,
        "fallback.timeout"
      ).copy(
        outcome = s"$UsesTcp; no other READ uses its sink until the queue pair is destroyed",
        boundSeconds = 20
      ),
      FaultPoint(
        "a READ brings a flipped bit",
        "the checksum fails; the block is fetched again by TCP",
        Seq(rule(Step.READ, Act.FLIP_BIT, chance = 0.2)),
        counts = Set("fallback.corrupt", "verify.corrupt")
      )
    )
  )
}
