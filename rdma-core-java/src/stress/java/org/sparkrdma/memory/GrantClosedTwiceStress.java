/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
