// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.util.Optional;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZIJ_Result;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.StubDevice;

/** A chunk is leased while idle regions are trimmed: its region stays registered and counted. */
@JCStressTest
@Outcome(id = "true, 1, 1", expect = Expect.ACCEPTABLE, desc = "leased, registered, counted")
@Outcome(expect = Expect.FORBIDDEN, desc = "deregistered while leased, or counted wrongly")
@State
public class PoolTrimStress {
  private static final int LENGTH = 64;

  private final StubDevice device = new StubDevice();
  private final PinnedBudget budget = new PinnedBudget(LENGTH, LENGTH);
  private final RegisteredPool pool =
      new RegisteredPool(
          new OpenDevice(device, device, budget, System::nanoTime),
          Set.of(AccessFlag.LOCAL_WRITE),
          LENGTH,
          1,
          LENGTH);

  /** A pool with one idle region of one chunk. */
  public PoolTrimStress() {
    pool.tryTake().orElseThrow().release();
  }

  /** Leases its chunk, or one of a new region. */
  @Actor
  public void take(ZIJ_Result result) {
    Optional<RegisteredChunk> chunk = pool.tryTake();
    result.r1 = chunk.isPresent();
  }

  /** Trims idle regions. */
  @Actor
  public void trim() {
    pool.markIdle();
    pool.trimUnused();
  }

  /** Open regions, and pinned chunks. */
  @Arbiter
  public void account(ZIJ_Result result) {
    result.r2 = device.regionCount();
    result.r3 = budget.pinnedBytes() / LENGTH;
  }
}
