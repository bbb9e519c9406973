// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.memory;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIZ_Result;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.StubDevice;

/**
 * One thread reads a chunk and releases it. The other releases it and leases a chunk to write into.
 * The pool has one chunk, which may be leased again only after the last release, and only once.
 */
@JCStressTest
@Outcome(id = "7, 0, true", expect = Expect.ACCEPTABLE, desc = "the reader still held the chunk")
@Outcome(id = "7, 1, true", expect = Expect.ACCEPTABLE, desc = "the reader had released the chunk")
@Outcome(expect = Expect.FORBIDDEN, desc = "overwritten during the read, or leased twice")
@State
public class ChunkReleaseStress {
  private static final int LENGTH = 64;
  private static final byte FETCHED = 7;
  private static final byte FOREIGN = 9;

  private final RegisteredPool pool;
  private final RegisteredChunk chunk;

  /** A chunk with two holders. */
  public ChunkReleaseStress() {
    var device = new StubDevice();
    pool =
        new RegisteredPool(
            new OpenDevice(device, device, new PinnedBudget(1 << 20, LENGTH), System::nanoTime),
            Set.of(AccessFlag.LOCAL_WRITE),
            LENGTH,
            1,
            LENGTH);
    chunk = pool.tryTake().orElseThrow();
    chunk.retain();
    chunk.slice(0, LENGTH).put(LENGTH - 1, FETCHED);
  }

  /** Reads the fetched data. */
  @Actor
  public void reader(IIZ_Result result) {
    ByteBuffer bytes = chunk.slice(0, LENGTH);
    result.r1 = bytes.get(LENGTH - 1);
    chunk.release();
  }

  /** Releases the chunk and writes into another if there is one. */
  @Actor
  public void writer(IIZ_Result result) {
    chunk.release();
    Optional<RegisteredChunk> next = pool.tryTake();
    next.ifPresent(
        taken -> {
          taken.slice(0, LENGTH).put(LENGTH - 1, FOREIGN);
          taken.release();
        });
    result.r2 = next.isPresent() ? 1 : 0;
  }

  /** Whether the chunk can be leased again, and only once. */
  @Arbiter
  public void pool(IIZ_Result result) {
    result.r3 = pool.chunksOut() == 0 && pool.tryTake().isPresent() && pool.tryTake().isEmpty();
  }
}
