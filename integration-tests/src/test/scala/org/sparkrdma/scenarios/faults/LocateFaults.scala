// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.Reissued
import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.FaultPoint.slow
import org.sparkrdma.scenarios.faults.FaultPoint.untimely
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** Faults between a LOCATE and its LOCATED. */
private[faults] object LocateFaults {
  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "a LOCATE cannot be sent",
        s"the connection is lost; $Reissued",
        Seq(rule(Step.LOCATE, Act.FAIL, WorkStatus.RETRY_EXCEEDED)),
        counts = Set("connections.closed")
      ),
      FaultPoint(
        "a LOCATE finds no receiver ready",
        s"the connection is lost; $Reissued",
        Seq(rule(Step.LOCATE, Act.FAIL, WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED)),
        counts = Set("connections.closed")
      ),
      untimely("a LOCATE is lost", Step.LOCATE_RECEIVED, Act.LOSE, "fallback.timeout"),
      untimely("a LOCATE is garbled", Step.LOCATE_RECEIVED, Act.GARBLE, "protocol.errors"),
      slow("a LOCATE comes late", Step.LOCATE_RECEIVED),
      untimely(
        "a LOCATE comes too late",
        Step.LOCATE_RECEIVED,
        Act.HOLD,
        "fallback.timeout",
        1_600
      ),
      untimely("a LOCATED is lost", Step.LOCATED_RECEIVED, Act.LOSE, "fallback.timeout"),
      untimely("a LOCATED is garbled", Step.LOCATED_RECEIVED, Act.GARBLE, "protocol.errors"),
      slow("a LOCATED comes late", Step.LOCATED_RECEIVED),
      untimely(
        "a LOCATED comes too late",
        Step.LOCATED_RECEIVED,
        Act.HOLD,
        "fallback.timeout",
        1_600
      )
    )
  )
}
