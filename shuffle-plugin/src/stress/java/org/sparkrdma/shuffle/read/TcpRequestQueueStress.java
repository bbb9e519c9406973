// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IZ_Result;

/**
 * Requests for one address arrive while the thread pool closes: each is issued or refused, once,
 * and never two are issued at a time.
 */
@JCStressTest
@Outcome(id = "2, true", expect = Expect.ACCEPTABLE, desc = "each issued once, one at a time")
@Outcome(expect = Expect.FORBIDDEN, desc = "issued twice, or never, or two at a time")
@State
public class TcpRequestQueueStress {
  private final TcpRequest one = new TcpRequest(null, 0, null, null, null);
  private final TcpRequest other = new TcpRequest(null, 0, null, null, null);
  private final TcpRequestQueue queue =
      new TcpRequestQueue(this::execute, this::issue, (queue, ms) -> false, () -> {});
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger issued = new AtomicInteger();
  private volatile boolean together;
  private volatile boolean closed;

  /** Adds a request. */
  @Actor
  public void ask() {
    queue.add(one);
    queue.start();
  }

  /** Closes the thread pool, then adds another request. */
  @Actor
  public void closeAndAsk() {
    closed = true;
    queue.add(other);
    queue.start();
  }

  /** Results of both requests. */
  @Arbiter
  public void answers(IZ_Result result) {
    result.r1 = issued.get();
    result.r2 = !together;
  }

  private void execute(Runnable work) {
    if (closed) {
      throw new RejectedExecutionException("on purpose");
    }
    work.run();
  }

  private void issue(TcpRequest request) {
    if (inside.getAndIncrement() > 0) {
      together = true;
    }
    issued.getAndIncrement();
    inside.getAndDecrement();
  }
}
