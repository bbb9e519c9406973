// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults

import org.sparkrdma.scenarios.faults.FaultPoint.rule
import org.sparkrdma.scenarios.faults.FaultPoint.seeded
import org.sparkrdma.scenarios.faults.plan.Act
import org.sparkrdma.scenarios.faults.plan.Step
import org.sparkrdma.verbs.WorkStatus

/** Processes that stop or die, and files that do. */
private[faults] object ProcessFaults {
  val all: Seq[FaultPoint] = seeded(
    Seq(
      FaultPoint(
        "a reader sleeps until its lease has run out under a READ",
        "the server ends the connection, blocks are asked for again or go by TCP",
        Seq(
          rule(
            Step.READ,
            Act.RUN,
            "(kill -STOP %self; sleep 5; kill -CONT %self) &",
            chance = 0.2,
            most = 1
          )
        ),
        counts = Set("serve.leases.expired"),
        may = Set("read-error"),
        onOne = true,
        readsOnOne = true,
        boundSeconds = 40
      ),
      FaultPoint(
        "the peer is stopped with SIGSTOP for 4 s",
        s"the request times out, and by TCP the blocks come when the peer goes on",
        Seq(
          rule(
            Step.LOCATE,
            Act.RUN,
            "kill -STOP %peer; (sleep 4; kill -CONT %peer) &",
            most = 1
          )
        ),
        counts = Set("fallback.timeout"),
        onOne = true,
        boundSeconds = 40
      ),
      FaultPoint(
        "map outputs are deleted while they are leased",
        "READs go on; who needs the file otherwise fails, and Spark computes it again",
        Seq(rule(Step.REGISTER_FILE, Act.DELETE, chance = 1)),
        counts = Set("rdma.blocks.read"),
        may = Set("peer-unknown-block", "read-error"),
        retries = true,
        boundSeconds = 60
      ),
      FaultPoint(
        "map outputs lose their last bytes while they are leased",
        "READs of them fail and TCP as well; Spark computes them again",
        Seq(rule(Step.REGISTER_FILE, Act.TRUNCATE, chance = 1, most = 3)),
        counts = Set("fallback.read-error"),
        may = Set("peer-unknown-block"),
        // Else whoever reads a file of its own first finds out, and all are computed again.
        readsOnOne = true,
        retries = true,
        boundSeconds = 60
      ),
      FaultPoint(
        "READs fail and TCP does, too",
        "Spark computes the map outputs again",
        Seq(
          rule(Step.READ, Act.FAIL, WorkStatus.REMOTE_ACCESS_ERROR, chance = 1, most = 3),
          rule(Step.REGISTER_FILE, Act.DELETE, chance = 1, most = 3)
        ),
        counts = Set("fallback.read-error"),
        may = Set("peer-unknown-block"),
        retries = true,
        boundSeconds = 60
      ),
      FaultPoint(
        "the peer is killed with SIGKILL",
        "its connection ends, TCP fails as well; Spark computes its map outputs again",
        Seq(rule(Step.READ, Act.RUN, "kill -KILL %peer", chance = 0.2, most = 1)),
        counts = Set("connections.closed"),
        may = Set("no-endpoint"),
        onOne = true,
        retries = true,
        boundSeconds = 90,
        after = FaultPoint.OtherExecutor
      )
    )
  )
}
