// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Two come too late for a block, one to keep it and one to read it: both are refused, whatever the
 * first does meanwhile.
 */
@JCStressTest
@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "both refused")
@Outcome(expect = Expect.FORBIDDEN, desc = "one got memory that is no more its own")
@State
public class FetchedBlockRetainStress {
  private final FetchedBlock block = Sinks.memory((byte) 0);

  /** A block after its last release. */
  public FetchedBlockRetainStress() {
    block.release();
  }

  /** Wants to keep it. */
  @Actor
  public void keeper(ZZ_Result result) {
    try {
      block.retain();
      result.r1 = true;
    } catch (IllegalStateException e) {
      result.r1 = false;
    }
  }

  /** Wants to read it. */
  @Actor
  public void reader(ZZ_Result result) {
    try {
      result.r2 = block.nioByteBuffer().hasRemaining();
    } catch (IllegalStateException | IOException e) {
      result.r2 = false;
    }
  }
}
