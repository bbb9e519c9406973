// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.sparkrdma.verbs.WorkRequest;

/**
 * A thread posts to a full ring of one place while another polls: it never reads a place before the
 * work is there, nor after other work has taken it.
 */
@JCStressTest
@Outcome(id = "7, -1", expect = Expect.ACCEPTABLE, desc = "polled the first only")
@Outcome(id = "7, 9", expect = Expect.ACCEPTABLE, desc = "polled both")
@Outcome(expect = Expect.FORBIDDEN, desc = "read a place that was not written, or again")
@State
public class WorkRingStress {
  private static final int ID = 7;

  private final WorkRing ring = new WorkRing(1);
  private final WorkRequest next = new WorkRequest(1).send(ID + 2);

  /** A ring with one work. */
  public WorkRingStress() {
    ring.write(0, new WorkRequest(1).send(ID));
    ring.add(1, true);
  }

  /** Posts when there is room. */
  @Actor
  public void post() {
    if (ring.room() > 0) {
      ring.write(0, next);
      ring.add(1, true);
    }
  }

  /** Takes the completions of both, as far as they are posted. */
  @Actor
  public void poll(JJ_Result result) {
    long position = ring.find(0);
    result.r1 = ring.id(position);
    ring.free(position);
    position = ring.find(1);
    result.r2 = position < 0 ? -1 : ring.id(position);
  }
}
