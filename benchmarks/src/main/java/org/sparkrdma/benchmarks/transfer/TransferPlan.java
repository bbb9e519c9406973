// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;

/**
 * Input of one application, as JSON.
 *
 * @param batch blocks of one request, for latency
 * @param totalBytes least number of bytes that each engine fetches in each round
 * @param cpu scope of the measured CPU time
 */
record TransferPlan(
    TransferKind kind,
    List<Integer> blockBytes,
    int batch,
    int warmUps,
    int rounds,
    long totalBytes,
    CpuScope cpu) {
  private static final int MAPS = 4;

  /** Requests of one round, for latency. */
  private static final int MAX_BLOCKS = 2_000;

  /** Most bytes of a round, for latency. */
  static final long MAX_LATENCY_BYTES = 256L << 20;

  /** Warm-up rounds; the first block length has one more, for classes and connections. */
  int warmUps(int bytes) {
    return bytes == blockBytes.get(0) ? warmUps + 1 : warmUps;
  }

  /** The map outputs of a round. For latency each request is that of one reducer. */
  Layout layout(int bytes) {
    if (kind != TransferKind.LATENCY) {
      return Layout.of(totalBytes, MAPS, bytes);
    }
    long fitting = Math.min(MAX_BLOCKS, MAX_LATENCY_BYTES / bytes);
    return new Layout(bytes, batch, Math.toIntExact(Math.max(1, fitting / batch)));
  }
}
