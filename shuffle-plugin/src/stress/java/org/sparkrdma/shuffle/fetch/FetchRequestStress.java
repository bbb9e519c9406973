// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.Arrays;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
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
public class FetchRequestStress {
  private static final BlockManagerAddress PEER = new BlockManagerAddress("1", "127.0.0.1", 1);
  private final AnswerCounts answers = new AnswerCounts(3);
  private final FetchRequest fetch;

  /** A request for three blocks. */
  public FetchRequestStress() {
    BlockRanges ranges = new BlockRanges(3);
    for (int i = 0; i < 3; i++) {
      ranges.add(0, 0, i, i + 1);
    }
    String[] names = {"0", "1", "2"};
    FetchRequest.Fallback tcp =
        (request, blocks, reason, detail) ->
            Arrays.stream(blocks).forEach(i -> answers.onBlockFetchFailure(names[i], null));
    FetchContext context =
        new FetchContext(null, tcp, new ShuffleCounters(), false, 1, new FallbackLog());
    fetch = new FetchRequest(context, PEER, names, ranges, answers, new FetchingTask(null));
  }

  /** The transport. */
  @Actor
  public void delivery() {
    fetch.onFetched(0, FetchedBlock.empty());
    fetch.leaveToTcp(1, FallbackReason.TIMEOUT, "on purpose");
  }

  /** The thread that fails the rest. */
  @Actor
  public void giveUp() {
    fetch.leaveRestToTcp(FallbackReason.READ_ERROR, "on purpose");
  }

  /** Number of answers of each. */
  @Arbiter
  public void answers(III_Result result) {
    result.r1 = answers.of(0);
    result.r2 = answers.of(1);
    result.r3 = answers.of(2);
  }
}
