// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.growth;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.Map;

/**
 * Result of one simulated shuffle, as the simulation writes it. Counts and times are those of one
 * executor, which is simulated in full.
 *
 * @param messages that it sent to its peers
 * @param work steps of its agent and its block server
 * @param blocks that it read
 * @param served blocks that the others read from it
 * @param memoryWaits number of its blocks that waited for receive memory, by duration
 * @param fallbacks its blocks that would use TCP, by reason
 * @param fallbacksOfOthers its blocks that the others would read by TCP, by reason
 * @param quantities all that is compared between sizes, by the name in the table
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SimulatedShuffle(
    Shape shape,
    int connections,
    long highestPinnedBytes,
    long messages,
    Map<String, Long> messagesByType,
    long work,
    long blocks,
    long served,
    double allBlocksMs,
    long maxReadBytesInFlight,
    Map<String, Long> memoryWaits,
    double longestMemoryWaitMs,
    Map<String, Long> fallbacks,
    Map<String, Long> fallbacksOfOthers,
    Map<String, Double> quantities) {
  /**
   * Shape of a shuffle.
   *
   * @param maps map outputs of all executors together
   * @param tasks that read at once, of the executor that is simulated in full
   * @param pinnedBytes {@code pinned.max}
   * @param connections {@code connections.max}
   * @param waves of tasks
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Shape(
      int executors,
      int maps,
      int tasks,
      int blockBytes,
      long pinnedBytes,
      int connections,
      int waves) {
    /** Partitions of a shuffle of all executors. */
    int partitions() {
      return executors * tasks * waves;
    }
  }

  /** Messages and steps are of blocks in both directions. */
  double forEachBlock(long count) {
    return (double) count / (blocks + served);
  }
}
