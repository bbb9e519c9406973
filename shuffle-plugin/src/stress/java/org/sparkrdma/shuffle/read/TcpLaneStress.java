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
package org.sparkrdma.shuffle.read;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIZ_Result;

/**
 * Requests for one place come while the threads go: each is issued or refused, once, and never two
 * are issued at a time.
 */
@JCStressTest
@Outcome(id = "2, 0, true", expect = Expect.ACCEPTABLE, desc = "issued before the end")
@Outcome(id = "1, 1, true", expect = Expect.ACCEPTABLE, desc = "one was too late")
@Outcome(id = "0, 2, true", expect = Expect.ACCEPTABLE, desc = "both were too late")
@Outcome(expect = Expect.FORBIDDEN, desc = "done twice, or never, or two at a time")
@State
public class TcpLaneStress {
  private static final TcpRequest REQUEST = new TcpRequest(null, null, null, null);

  private final TcpLane lane = new TcpLane(this::execute, this::issue, this::refuse);
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicInteger issued = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private volatile boolean together;
  private volatile boolean closed;

  /** One asks. */
  @Actor
  public void ask() {
    lane.add(REQUEST);
  }

  /** Another asks, then the threads are gone. */
  @Actor
  public void askAndClose() {
    lane.add(REQUEST);
    closed = true;
    lane.refuseAll();
  }

  /** What became of both. */
  @Arbiter
  public void answers(IIZ_Result result) {
    result.r1 = issued.get();
    result.r2 = refused.get();
    result.r3 = !together;
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

  private void refuse(TcpRequest request) {
    refused.getAndIncrement();
  }
}
