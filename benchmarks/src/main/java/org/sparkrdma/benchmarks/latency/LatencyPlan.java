// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.latency;

import java.util.List;
import org.sparkrdma.benchmarks.transfer.Layout;

/**
 * Input of the application, as JSON.
 *
 * @param blockBytes lengths of blocks
 * @param blocks number of blocks of a round; fewer of those that together exceed {@link #MAX_BYTES}
 * @param batch blocks of one request
 */
record LatencyPlan(
    List<Integer> blockBytes, int blocks, int batch, int warmUps, int rounds, long seed) {
  /** Most bytes of a round, for each engine. */
  static final long MAX_BYTES = 256L << 20;

  /** Has as many map outputs as a request has blocks: each request is that of one reducer. */
  Layout layout(int bytes) {
    long fitting = Math.min(blocks, MAX_BYTES / bytes);
    return new Layout(bytes, batch, Math.toIntExact(Math.max(1, fitting / batch)));
  }

  int allRounds() {
    return warmUps + rounds;
  }
}
