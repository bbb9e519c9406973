// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;

/**
 * Input of one application, as JSON.
 *
 * @param totalBytes least number of bytes that each engine fetches in each round
 * @param maps number of map outputs of a round
 * @param cpu scope of the measured CPU time
 */
record TransferPlan(
    List<Integer> blockBytes,
    int warmUps,
    int rounds,
    long totalBytes,
    int maps,
    long seed,
    CpuScope cpu) {
  /** Warm-up rounds; the first block length has one more, for classes and connections. */
  int warmUps(Layout layout) {
    return layout.blockBytes() == blockBytes.get(0) ? warmUps + 1 : warmUps;
  }

  List<Layout> layouts() {
    return blockBytes.stream().map(bytes -> Layout.of(totalBytes, maps, bytes)).toList();
  }
}
