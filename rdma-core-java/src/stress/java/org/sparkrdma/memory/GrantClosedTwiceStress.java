// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A grant is closed twice at once, and another taken meanwhile: its pages come back once. */
@JCStressTest
@Outcome(id = "3, 4", expect = Expect.ACCEPTABLE, desc = "the grant was still counted")
@Outcome(id = "3, 3", expect = Expect.ACCEPTABLE, desc = "the grant was given back before")
@Outcome(expect = Expect.FORBIDDEN, desc = "given back twice, or not")
@State
public class GrantClosedTwiceStress {
  private static final int PAGE = 4096;

  private final PinnedBudget budget = new PinnedBudget(8 * PAGE, PAGE);
  private final PinnedBudget.Grant grant;

  /** One page is pinned throughout, another is what this is about. */
  public GrantClosedTwiceStress() {
    budget.tryGrant(PAGE).orElseThrow();
    grant = budget.tryGrant(PAGE).orElseThrow();
  }

  /** Closes it. */
  @Actor
  public void close() {
    grant.close();
  }

  /** Closes it too, then takes two pages. */
  @Actor
  public void closeToo() {
    grant.close();
    budget.tryGrant(2 * PAGE).orElseThrow();
  }

  /** What is pinned, and the most that ever was, in pages. */
  @Arbiter
  public void account(JJ_Result result) {
    result.r1 = budget.pinnedBytes() / PAGE;
    result.r2 = budget.highestBytes() / PAGE;
  }
}
