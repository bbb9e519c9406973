// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** Number of answers to Spark's fetcher for each block, which is named by a number. Any thread. */
final class AnswerCounts implements BlockFetchingListener {
  private final AtomicIntegerArray answers;

  AnswerCounts(int blocks) {
    answers = new AtomicIntegerArray(blocks);
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer buffer) {
    answers.getAndIncrement(Integer.parseInt(blockId));
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    answers.getAndIncrement(Integer.parseInt(blockId));
  }

  int of(int block) {
    return answers.get(block);
  }
}
