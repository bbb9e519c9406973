// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.FaultPoint.slow
import org.sparkrdma.scenarios.faults.FaultPoint.untimely
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** Faults of READs. */
private[faults] object ReadFaults {

  /** The error of a wrong key. The other errors end the connection the same way. */
  private val Daily = WorkStatus.REMOTE_ACCESS_ERROR

  val all: Seq[FaultPoint] = seeded(
    WorkStatus.values.toSeq.filterNot(Set(WorkStatus.SUCCESS, WorkStatus.FLUSH_ERROR)).map {
      status =>
        FaultPoint(
          s"a READ ends with $status",
          Seq(rule(Step.READ, Act.FAIL, status, chance = 0.2)),
          claims = Claim.byTcp("read-error") +: FaultPoint.Replaced,
          mayAlso = FaultPoint.ConnectionEnds,
          nightly = status != Daily
        )
    } ++ Seq(
      FaultPoint(
        "a READ is flushed",
        Seq(rule(Step.READ, Act.FAIL, WorkStatus.FLUSH_ERROR, chance = 0.2)),
        claims = FaultPoint.Replaced,
        mayAlso = FaultPoint.ConnectionEnds
      ),
      FaultPoint(
        "the connection is lost under a READ",
        Seq(rule(Step.READ, Act.DROP_CONNECTION, chance = 0.2)),
        claims = FaultPoint.Replaced,
        mayAlso = FaultPoint.ConnectionEnds
      ),
      slow("a READ is slow", Step.READ),
      untimely("a READ hangs", Step.READ, Act.LOSE).copy(nightly = true),
      untimely("a queue pair fails without an event under a READ", Step.READ, Act.FAIL_SILENTLY),
      untimely("a READ lands after its deadline", Step.READ, Act.LAND_LATE),
      FaultPoint(
        "a READ brings a flipped bit",
        Seq(rule(Step.READ, Act.FLIP_BIT, chance = 0.2)),
        claims = Seq(Claim.upToHits("fallback.corrupt"), Claim.upToHits("verify.corrupt")),
        mayAlso = FaultPoint.ConnectionEnds
      )
    )
  )
}
