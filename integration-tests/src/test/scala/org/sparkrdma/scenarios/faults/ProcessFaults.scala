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
        "the server ends the connection; blocks are reissued or use TCP",
        Seq(
          rule(
            Step.READ,
            Act.RUN,
            "(kill -STOP %self; sleep 5; kill -CONT %self) &",
            chance = 0.2,
            maxFires = 1
          )
        ),
        counts = Set("serve.leases.expired"),
        optionalReasons = Set("read-error"),
        onOneExecutor = true,
        readsOnOneExecutor = true,
        boundSeconds = 40
      ),
      FaultPoint(
        "the peer is stopped with SIGSTOP for 4 s",
        s"the request times out; TCP delivers the blocks when the peer continues",
        Seq(
          rule(
            Step.LOCATE,
            Act.RUN,
            "kill -STOP %peer; (sleep 4; kill -CONT %peer) &",
            maxFires = 1
          )
        ),
        counts = Set("fallback.timeout"),
        onOneExecutor = true,
        boundSeconds = 40
      ),
      FaultPoint(
        "map outputs are deleted while they are leased",
        "READs continue; other access to the file fails, and Spark recomputes the outputs",
        Seq(rule(Step.REGISTER_FILE, Act.DELETE, chance = 1)),
        counts = Set("rdma.blocks.read"),
        optionalReasons = Set("peer-unknown-block", "read-error"),
        retries = true
      ),
      FaultPoint(
        "map outputs lose their last bytes while they are leased",
        "READs and TCP fail; Spark recomputes the outputs",
        Seq(rule(Step.REGISTER_FILE, Act.TRUNCATE, chance = 1, maxFires = 3)),
        counts = Set("fallback.read-error"),
        optionalReasons = Set("peer-unknown-block"),
        // Otherwise a local reader finds the damage first, and all outputs are recomputed.
        readsOnOneExecutor = true,
        retries = true,
        boundSeconds = 30
      ),
      FaultPoint(
        "READs fail and TCP does, too",
        "Spark recomputes the map outputs",
        Seq(
          rule(Step.READ, Act.FAIL, WorkStatus.REMOTE_ACCESS_ERROR, chance = 1, maxFires = 3),
          rule(Step.REGISTER_FILE, Act.DELETE, chance = 1, maxFires = 3)
        ),
        counts = Set("fallback.read-error"),
        optionalReasons = Set("peer-unknown-block"),
        retries = true,
        boundSeconds = 30
      ),
      FaultPoint(
        "the peer is killed with SIGKILL",
        "its connection ends and TCP fails; Spark recomputes its map outputs",
        Seq(rule(Step.READ, Act.RUN, "kill -KILL %peer", chance = 0.2, maxFires = 1)),
        counts = Set("connections.closed"),
        optionalReasons = Set("no-endpoint"),
        onOneExecutor = true,
        retries = true,
        boundSeconds = 15,
        after = FaultPoint.OtherExecutor
      )
    )
  )
}
