// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** Processes that stop or die, and files that are deleted or truncated. */
private[faults] object ProcessFaults {
  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "a reader sleeps until its lease has run out under a READ",
        Seq(
          rule(
            Step.READ,
            Act.RUN,
            "(kill -STOP %self; sleep 5; kill -CONT %self) &",
            chance = 0.2,
            maxFires = 1
          )
        ),
        claims = Seq(Claim.grows("serve.leases.expired"), Claim.grows("connections.closed")),
        mayAlso = FaultPoint.OfPauses,
        leastSeconds = 4.5,
        pausesExecutor = true,
        onOneExecutor = true,
        readsOnOneExecutor = true,
        boundSeconds = 40
      ),
      FaultPoint(
        "the peer is stopped with SIGSTOP for 4 s",
        Seq(
          rule(
            Step.LOCATE,
            Act.RUN,
            "kill -STOP %peer; (sleep 4; kill -CONT %peer) &",
            maxFires = 1
          )
        ),
        claims = Seq(Claim.byTcp("timeout")),
        mayAlso = FaultPoint.OfPauses,
        leastSeconds = 3.5,
        pausesExecutor = true,
        onOneExecutor = true,
        boundSeconds = 40
      ),
      FaultPoint(
        "map outputs are deleted while they are leased",
        Seq(rule(Step.REGISTER_FILE, Act.DELETE, chance = 1)),
        claims = Seq(Claim.grows("rdma.blocks.read")),
        mayAlso = Set("peer-unknown-block", "read-error", "lost-peer"),
        retries = FaultPoint.StagesRetried,
        serve = "window"
      ),
      FaultPoint(
        "map outputs lose their last bytes while they are leased",
        Seq(rule(Step.REGISTER_FILE, Act.TRUNCATE, chance = 1, maxFires = 3)),
        claims = Seq(Claim.byTcp("read-error"), Claim.grows("connections.closed")),
        mayAlso = FaultPoint.ConnectionEnds + "peer-unknown-block",
        // Otherwise a local reader finds the damage first, and all outputs are recomputed.
        readsOnOneExecutor = true,
        retries = FaultPoint.StagesRetried,
        boundSeconds = 30,
        serve = "window"
      ),
      FaultPoint(
        "READs fail and TCP does, too",
        Seq(
          rule(Step.READ, Act.FAIL, WorkStatus.REMOTE_ACCESS_ERROR, chance = 1, maxFires = 3),
          // One in each executor: each deleted output may cost an attempt of the stage, of which Spark allows four.
          rule(Step.REGISTER_FILE, Act.DELETE, chance = 1, maxFires = 1)
        ),
        claims = Seq(Claim.byTcp("read-error"), Claim.grows("connections.closed")),
        mayAlso = FaultPoint.ConnectionEnds + "peer-unknown-block",
        retries = FaultPoint.StagesRetried,
        serve = "window"
      ),
      FaultPoint(
        "the peer is killed with SIGKILL",
        Seq(rule(Step.READ, Act.RUN, "kill -KILL %peer", chance = 0.2, maxFires = 1)),
        claims = Seq(Claim.grows("connections.closed")),
        mayAlso = Set("no-endpoint", "connect-failed", "quarantined", "lost-peer", "read-error"),
        onOneExecutor = true,
        retries = FaultPoint.StagesRetried,
        boundSeconds = 15,
        after = FaultPoint.OtherExecutor
      )
    )
  )
}
