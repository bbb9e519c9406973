// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import io.netty.util.internal.OutOfDirectMemoryError;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spark's listener of one call, which gets failures for lack of Netty's direct memory after all
 * other answers. No success follows them where Spark's own client fetches, so {@code
 * ShuffleBlockFetcherIterator} would count the end of a request twice that such a failure and then
 * a block by READ end, and would not wait for the memory that others hold. So Spark learns of the
 * lack when the slowest block is there. Safe for any thread.
 */
final class ShortagesLast implements BlockFetchingListener {
  private static final Logger LOG = LoggerFactory.getLogger(ShortagesLast.class);

  private final BlockFetchingListener spark;

  /** Number of blocks without an answer. Guarded by this object, as the next. */
  private int open;

  /** Null for nearly all calls. */
  private List<Shortage> shortages;

  private record Shortage(String block, Throwable failure) {}

  /**
   * @param blocks number of the call's blocks
   */
  ShortagesLast(BlockFetchingListener spark, int blocks) {
    this.spark = spark;
    this.open = blocks;
  }

  @Override
  public void onBlockFetchSuccess(String block, ManagedBuffer bytes) {
    spark.onBlockFetchSuccess(block, bytes);
    onAnswer();
  }

  @Override
  public void onBlockFetchFailure(String block, Throwable failure) {
    if (failure instanceof OutOfDirectMemoryError) {
      add(new Shortage(block, failure));
    } else {
      spark.onBlockFetchFailure(block, failure);
    }
    onAnswer();
  }

  private synchronized void add(Shortage shortage) {
    if (shortages == null) {
      shortages = new ArrayList<>();
    }
    shortages.add(shortage);
  }

  /**
   * Counts an answer; returns the shortages when it is the last one. Spark's client may answer a
   * block twice: what comes after the last answer is passed on at once.
   */
  private synchronized List<Shortage> countAnswer() {
    List<Shortage> due = --open <= 0 ? shortages : null;
    shortages = due == null ? shortages : null;
    return due == null ? List.of() : due;
  }

  private void onAnswer() {
    for (Shortage each : countAnswer()) {
      try {
        spark.onBlockFetchFailure(each.block, each.failure);
      } catch (Exception | LinkageError e) {
        // The answer before it was taken, and must not look as if it was not.
        LOG.error("Spark did not take the failure of a block: block={}", each.block, e);
      }
    }
  }
}
