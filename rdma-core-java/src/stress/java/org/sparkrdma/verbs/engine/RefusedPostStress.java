// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.WorkRequest;

/**
 * A device refuses work while its queue pair breaks and is polled: either the caller has the work
 * back, or it is flushed once.
 */
@JCStressTest
@Outcome(id = "false, 0", expect = Expect.ACCEPTABLE, desc = "the caller posts it again")
@Outcome(id = "true, 1", expect = Expect.ACCEPTABLE, desc = "flushed once")
@Outcome(expect = Expect.FORBIDDEN, desc = "lost, or shown although the caller has it back")
@State
public class RefusedPostStress {
  private final FakeDevice.Objects objects;
  private final FakeQueuePair pair;
  private int shown;

  /** A connected queue pair. */
  public RefusedPostStress() {
    try {
      objects = new FakeDevice.Objects();
      pair = objects.connected().pair();
    } catch (VerbsException e) {
      throw new IllegalStateException(e);
    }
    pair.duringPost = count -> 0;
  }

  /** A task. */
  @Actor
  public void post(ZI_Result result) {
    result.r1 = pair.postSend(new WorkRequest(1).send(1));
  }

  /** The agent, on an event of the kernel. */
  @Actor
  public void breakAndPoll() {
    pair.markBroken();
    objects.queue.poll(2, completion -> shown++);
  }

  /** Completions in all. */
  @Arbiter
  public void count(ZI_Result result) {
    objects.queue.poll(2, completion -> shown++);
    result.r2 = shown;
  }
}
