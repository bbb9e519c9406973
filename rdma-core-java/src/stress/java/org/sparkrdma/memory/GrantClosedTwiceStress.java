// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** Two threads close one grant while another grant is made: its pages are released once. */
@JCStressTest
@Outcome(id = "3, 4", expect = Expect.ACCEPTABLE, desc = "the grant was still open")
@Outcome(id = "3, 3", expect = Expect.ACCEPTABLE, desc = "the grant was closed before")
@Outcome(expect = Expect.FORBIDDEN, desc = "released twice, or never")
@State
public class GrantClosedTwiceStress {
  private static final int PAGE = 4096;

  private final PinnedBudget budget = new PinnedBudget(8 * PAGE, PAGE);
  private final PinnedBudget.Grant grant;

  /** One page stays pinned; the grant under test has another page. */
  public GrantClosedTwiceStress() {
    budget.tryGrant(PAGE).orElseThrow();
    grant = budget.tryGrant(PAGE).orElseThrow();
  }

  /** Closes the grant. */
  @Actor
  public void close() {
    grant.close();
  }

  /** Closes the grant as well, then takes two pages. */
  @Actor
  public void closeToo() {
    grant.close();
    budget.tryGrant(2 * PAGE).orElseThrow();
  }

  /** Pinned pages and their maximum. */
  @Arbiter
  public void account(JJ_Result result) {
    result.r1 = budget.pinnedBytes() / PAGE;
    result.r2 = budget.highestBytes() / PAGE;
  }
}
