// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.ceiling;

import java.util.List;
import org.sparkrdma.benchmarks.transfer.Layout;

/**
 * Input of the application, as JSON.
 *
 * @param blockBytes lengths of blocks
 * @param peers numbers of peers
 * @param sampleMs least duration of each fetch
 * @param totalBytes least size of the map outputs of a round
 */
record CeilingPlan(
    List<Integer> blockBytes,
    List<Integer> peers,
    int warmUps,
    int rounds,
    int sampleMs,
    long totalBytes,
    int maps,
    long seed) {
  Layout layout(int bytes) {
    return Layout.of(totalBytes, maps, bytes);
  }

  /** Rounds in all. */
  int allRounds() {
    return blockBytes.size() * peers.size() * (warmUps + rounds);
  }
}
