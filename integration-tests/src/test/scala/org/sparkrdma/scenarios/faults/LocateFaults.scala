// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.garbled
import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.FaultPoint.slow
import org.sparkrdma.scenarios.faults.FaultPoint.untimely
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** Faults between a LOCATE and its LOCATED. */
private[faults] object LocateFaults {
  private val TooLateMs = 1_600

  val all: Seq[FaultPoint] = seeded(
    Seq(
      notSent("a LOCATE cannot be sent", WorkStatus.RETRY_EXCEEDED),
      notSent("a LOCATE finds no receiver ready", WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED)
        .copy(nightly = true),
      untimely("a LOCATE is lost", Step.LOCATE_RECEIVED, Act.LOSE),
      garbled("a LOCATE is garbled", Step.LOCATE_RECEIVED),
      slow("a LOCATE comes late", Step.LOCATE_RECEIVED).copy(nightly = true),
      untimely("a LOCATE comes too late", Step.LOCATE_RECEIVED, Act.HOLD, TooLateMs)
        .copy(nightly = true),
      untimely("a LOCATED is lost", Step.LOCATED_RECEIVED, Act.LOSE).copy(nightly = true),
      garbled("a LOCATED is garbled", Step.LOCATED_RECEIVED),
      inPiece("an address far from the window", "ADDRESS:44"),
      inPiece("the key of no window", "KEY:20").copy(nightly = true),
      FaultPoint(
        "a LOCATED has another address of the same window",
        Seq(rule(Step.LOCATED_RECEIVED, Act.GARBLE, "ADDRESS:3", chance = 0.3)),
        claims = Seq(Claim.upToHits("fallback.corrupt"), Claim.upToHits("verify.corrupt")),
        // A block at an end of its window.
        mayAlso = FaultPoint.ConnectionEnds
      ),
      garbled("a LOCATED has another length of a piece", Step.LOCATED_RECEIVED, "LENGTH:3")
        .copy(nightly = true),
      garbled("a LOCATED has another offset of a piece", Step.LOCATED_RECEIVED, "OFFSET:3")
        .copy(nightly = true),
      // All blocks are 16 to 32 KiB long.
      garbled("a LOCATED has a shorter block", Step.LOCATED_RECEIVED, "BLOCK_LENGTH:14")
        .copy(nightly = true),
      FaultPoint(
        "a LOCATED has a longer block",
        Seq(rule(Step.LOCATED_RECEIVED, Act.GARBLE, "BLOCK_LENGTH:20", chance = 0.3)),
        claims = Seq(
          Claim.upToHits("fallback.peer-unknown-block"),
          Claim.never("connections.closed")
        )
      ),
      FaultPoint(
        "a LOCATED has another checksum",
        Seq(rule(Step.LOCATED_RECEIVED, Act.GARBLE, "FIRST_SUM:3", chance = 0.3)),
        claims = Seq(Claim.upToHits("verify.unusable-sums"), Claim.never("verify.corrupt")),
        mayAlso = Set("checksum-unusable")
      ),
      slow("a LOCATED comes late", Step.LOCATED_RECEIVED).copy(nightly = true),
      untimely("a LOCATED comes too late", Step.LOCATED_RECEIVED, Act.HOLD, TooLateMs),
      untimely("a queue pair fails without an event under a LOCATE", Step.LOCATE, Act.FAIL_SILENTLY)
        .copy(nightly = true)
    )
  )

  private def notSent(name: String, status: WorkStatus): FaultPoint = FaultPoint(
    name,
    Seq(rule(Step.LOCATE, Act.FAIL, status)),
    claims = FaultPoint.Replaced,
    mayAlso = FaultPoint.ConnectionEnds
  )

  /** The READ of a piece fails at the peer. */
  private def inPiece(wrong: String, garbled: String): FaultPoint = FaultPoint(
    s"a LOCATED has $wrong",
    Seq(rule(Step.LOCATED_RECEIVED, Act.GARBLE, garbled, chance = 0.3)),
    claims = Claim.byTcp("read-error") +: Claim.never("verify.corrupt") +: FaultPoint.Replaced,
    mayAlso = FaultPoint.ConnectionEnds
  )
}
