// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.fetch.FetchHandler;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Counts the answers of each block. */
final class CountedAnswers implements FetchHandler {
  private final int[] counts;
  private final long[] lengths;

  CountedAnswers(int blocks) {
    counts = new int[blocks];
    lengths = new long[blocks];
  }

  @Override
  public void onFetched(int index, ManagedBuffer buffer) {
    counts[index]++;
    lengths[index] = buffer.size();
  }

  @Override
  public void onFailed(int index, FallbackReason reason, String detail) {
    counts[index]++;
    lengths[index] = -1;
  }

  int blocks() {
    return counts.length;
  }

  /** Answers of a block. */
  int count(int block) {
    return counts[block];
  }

  /** Length of a block that came by RDMA; negative for others. */
  long length(int block) {
    return lengths[block];
  }

  /** Number of blocks that came by RDMA. */
  long fetched() {
    return IntStream.range(0, counts.length)
        .filter(block -> counts[block] > 0 && lengths[block] >= 0)
        .count();
  }

  boolean areComplete() {
    for (int count : counts) {
      if (count == 0) {
        return false;
      }
    }
    return true;
  }
}
