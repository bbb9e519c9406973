// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.transfer;

import java.util.List;

/**
 * What one application measures; handed to it as JSON.
 *
 * @param totalBytes that each engine fetches in each round, at least
 * @param maps map outputs of a round
 * @param cpu whose CPU time is measured
 */
record TransferPlan(
    List<Integer> blockBytes,
    int warmUps,
    int rounds,
    long totalBytes,
    int maps,
    long seed,
    CpuScope cpu) {
  /** The first block length also warms up what all have in common. */
  int warmUps(Layout layout) {
    return layout.blockBytes() == blockBytes.get(0) ? warmUps + 1 : warmUps;
  }

  List<Layout> layouts() {
    return blockBytes.stream().map(bytes -> Layout.of(totalBytes, maps, bytes)).toList();
  }
}
