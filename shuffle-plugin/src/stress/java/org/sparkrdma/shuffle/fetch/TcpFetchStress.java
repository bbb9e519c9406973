// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Spark's client brings a block on one thread and throws on another: the block is answered once,
 * and counted only when it is handed on.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "failed")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "handed on")
@Outcome(expect = Expect.FORBIDDEN, desc = "answered twice, or never")
@State
public class TcpFetchStress {
  private final AnswerCounts answers = new AnswerCounts(1);
  private final ShuffleCounters counters = new ShuffleCounters();
  private final TcpFetch tcp =
      new TcpFetch(
          new FetchContext(null, null, counters, false, 1, new FallbackLog()),
          new BlockManagerAddress("7", "host", 1),
          0,
          new String[] {"0"},
          answers,
          null,
          false);

  /** The block has come. */
  @Actor
  public void come() {
    tcp.onBlockFetchSuccess("0", new NioManagedBuffer(ByteBuffer.allocate(1)));
  }

  /** The call that asked for it threw. */
  @Actor
  public void failRest() {
    tcp.failRest(new IllegalStateException("on purpose"));
  }

  /** Answers of it, and how often it counts as read. */
  @Arbiter
  public void answers(II_Result result) {
    result.r1 = answers.of(0);
    result.r2 = (int) counters.value(Counter.TCP_BLOCKS_READ);
  }
}
