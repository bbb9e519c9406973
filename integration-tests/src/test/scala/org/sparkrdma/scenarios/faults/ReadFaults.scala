// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.ByTcp
import org.sparkrdma.scenarios.faults.FaultPoint.OnNew
import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.FaultPoint.slow
import org.sparkrdma.scenarios.faults.FaultPoint.untimely
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** What goes wrong with READs. */
private[faults] object ReadFaults {
  val all: Seq[FaultPoint] = seeded(
    WorkStatus.values.toSeq.filterNot(Set(WorkStatus.SUCCESS, WorkStatus.FLUSH_ERROR)).map {
      status =>
        FaultPoint(
          s"a READ ends with $status",
          s"$ByTcp, $OnNew",
          Seq(rule(Step.READ, Act.FAIL, status, chance = 0.2)),
          counts = Set("fallback.read-error")
        )
    } ++ Seq(
      FaultPoint(
        "a READ is flushed",
        s"the connection is lost, $OnNew",
        Seq(rule(Step.READ, Act.FAIL, WorkStatus.FLUSH_ERROR, chance = 0.2)),
        counts = Set("connections.closed")
      ),
      FaultPoint(
        "the connection is lost under a READ",
        OnNew,
        Seq(rule(Step.READ, Act.DROP_CONNECTION, chance = 0.2)),
        counts = Set("connections.closed")
      ),
      slow("a READ is slow", Step.READ),
      untimely("a READ hangs", Step.READ, Act.LOSE, "fallback.timeout"),
      untimely(
        "a READ lands after its deadline",
        Step.READ,
        Act.LAND_LATE,
        "fallback.timeout"
      ).copy(so =
        s"$ByTcp; its sink is nobody else's until the queue pair is destroyed, and so is the noise in it"
      ),
      FaultPoint(
        "a READ brings a flipped bit",
        "the checksum tells, the block goes by TCP, which brings other bytes",
        Seq(rule(Step.READ, Act.FLIP_BIT, chance = 0.2)),
        counts = Set("fallback.corrupt", "verify.corrupt")
      ),
      FaultPoint(
        "receive memory is used up by slow READs",
        "who waited for a tenth of the time-out goes by TCP",
        Seq(rule(Step.READ, Act.HOLD, 700, chance = 1, most = 3)),
        counts = Set("fallback.pool-empty"),
        job = FaultJob.Bulky,
        boundSeconds = 30
      )
    )
  )
}
