// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.io.IOException;
import java.io.InputStream;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A reader that holds no reference reads on while the last one is released and the memory is
 * another block's: it sees what was fetched, or is refused.
 */
@JCStressTest
@Outcome(id = "7, 7", expect = Expect.ACCEPTABLE, desc = "read before")
@Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "the stream was too late")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "refused")
@Outcome(expect = Expect.FORBIDDEN, desc = "read another block's bytes")
@State
public class FetchedBlockReadStress {
  private static final byte FETCHED = 7;
  private static final byte FOREIGN = 9;

  private final FetchedBlock block = Sinks.memory(FETCHED);

  /** Opens a stream, reads by a copy, then by the stream; 0 where it was refused. */
  @Actor
  public void reader(II_Result result) {
    try {
      InputStream stream = block.createInputStream();
      result.r1 = largest(block.nioByteBuffer().array());
      byte[] bytes = new byte[Sinks.LENGTH];
      stream.read(bytes, 0, bytes.length);
      result.r2 = largest(bytes);
    } catch (IllegalStateException | IOException e) {
      // Refused.
    }
  }

  /** Has no more use for it, and the next block comes into the same memory. */
  @Actor
  public void owner() {
    block.release();
    Sinks.take(FOREIGN).release();
  }

  private static int largest(byte[] bytes) {
    int largest = 0;
    for (byte each : bytes) {
      largest = Math.max(largest, each);
    }
    return largest;
  }
}
