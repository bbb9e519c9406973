// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.sparkrdma.shuffle.fetch.BlockRange;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * The transport delivers one block of three and fails another, while another thread fails all open
 * blocks: each block is answered once. TCP is closed and answers at once.
 */
@JCStressTest
@Outcome(id = "1, 1, 1", expect = Expect.ACCEPTABLE, desc = "each answered once")
@Outcome(expect = Expect.FORBIDDEN, desc = "answered twice, or never")
@State
public class PeerFetchStress {
  private static final PeerAddress PEER = new PeerAddress("1", "127.0.0.1", 1);
  private static final List<String> NAMES = List.of("0", "1", "2");
  private static final List<BlockRange> RANGES =
      List.of(new BlockRange(0, 0, 0, 1), new BlockRange(0, 0, 1, 2), new BlockRange(0, 0, 2, 3));
  private static final FallbackLog FALLBACK_LOG = new FallbackLog();
  private static final ShuffleCounters COUNTERS = new ShuffleCounters();
  private static final ManagedBuffer BUFFER = new FakeBuffer(1);

  private final AnswerCounts answers = new AnswerCounts(NAMES.size());
  private final PeerFetch fetch;

  /** A request for three blocks. */
  public PeerFetchStress() {
    TcpFallback tcp = new TcpFallback(null, COUNTERS, 1);
    tcp.close();
    fetch =
        new PeerFetch(PEER, NAMES, RANGES, answers, null, tcp, FALLBACK_LOG, COUNTERS, () -> {});
  }

  /** The transport's delivery. */
  @Actor
  public void delivery() {
    fetch.onFetched(0, BUFFER);
    fetch.onFailed(1, FallbackReason.TIMEOUT, "on purpose");
  }

  /** The thread that fails the rest. */
  @Actor
  public void giveUp() {
    fetch.failRest(FallbackReason.READ_ERROR, "on purpose");
  }

  /** Number of answers of each. */
  @Arbiter
  public void answers(III_Result result) {
    result.r1 = answers.of(0);
    result.r2 = answers.of(1);
    result.r3 = answers.of(2);
  }
}
