// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.metrics;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** Two threads record, and one of them reads; in the end both latencies are counted. */
@JCStressTest
@Outcome(
    id = {"10, 10, 50", "50, 10, 50"},
    expect = Expect.ACCEPTABLE,
    desc = "the reader sees one of the two; in the end both are there")
@Outcome(
    expect = Expect.FORBIDDEN,
    desc = "a latency is lost, or one is read that was not recorded")
@State
public class ReadLatencyStress {
  private final ShuffleCounters.ReadLatency latency = new ShuffleCounters().readLatency();

  /** Records the short latency. */
  @Actor
  public void recordShort() {
    latency.record(9_900);
  }

  /** Records the long latency, then reads while the other may record. */
  @Actor
  public void recordLongAndRead(JJJ_Result result) {
    latency.record(49_500);
    result.r1 = latency.percentileUs(99);
  }

  /** Reads when both have recorded. */
  @Arbiter
  public void after(JJJ_Result result) {
    result.r2 = latency.percentileUs(50);
    result.r3 = latency.percentileUs(100);
  }
}
