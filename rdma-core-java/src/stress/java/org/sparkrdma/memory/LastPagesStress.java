// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.Optional;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZJ_Result;

/** Two threads together request more pages than there are: exactly one succeeds. */
@JCStressTest
@Outcome(id = "true, false, 2", expect = Expect.ACCEPTABLE, desc = "the first thread succeeded")
@Outcome(id = "false, true, 3", expect = Expect.ACCEPTABLE, desc = "the second thread succeeded")
@Outcome(expect = Expect.FORBIDDEN, desc = "over the limit, or both refused")
@State
public class LastPagesStress {
  private static final int PAGE = 4096;

  private final PinnedBudget budget = new PinnedBudget(4 * PAGE, PAGE);

  /** Requests two pages of four. */
  @Actor
  public void first(ZZJ_Result result) {
    result.r1 = budget.tryGrant(2 * PAGE).isPresent();
  }

  /** Requests three pages. */
  @Actor
  public void second(ZZJ_Result result) {
    Optional<PinnedBudget.Grant> grant = budget.tryGrant(3 * PAGE);
    result.r2 = grant.isPresent();
  }

  /** Pinned pages, which must equal their maximum. */
  @Arbiter
  public void account(ZZJ_Result result) {
    long pinned = budget.pinnedBytes();
    result.r3 = pinned == budget.highestBytes() ? pinned / PAGE : -1;
  }
}
