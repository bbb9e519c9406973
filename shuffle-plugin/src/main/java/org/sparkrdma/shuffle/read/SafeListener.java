// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.metrics.LogLimit;

/**
 * Calls Spark's listener and handles its exceptions: without an answer Spark's iterator would wait
 * for a block for ever. Never throws. Safe for any thread.
 */
final class SafeListener {
  private static final Logger LOG = LoggerFactory.getLogger(SafeListener.class);
  private static final LogLimit LIMIT = new LogLimit();

  private SafeListener() {}

  /**
   * Delivers a block. When the listener throws, the block is reported as failed: a second success
   * could make Spark read it twice, while a failure only makes Spark recompute it.
   */
  static void succeed(BlockFetchingListener listener, String blockId, ManagedBuffer buffer) {
    try {
      listener.onBlockFetchSuccess(blockId, buffer);
    } catch (Throwable e) {
      fail(listener, blockId, e);
    }
  }

  /**
   * Reports a failure. When the listener throws, it has had no memory to queue the result, and gets
   * it once more; a second exception is only logged.
   */
  static void fail(BlockFetchingListener listener, String blockId, Throwable failure) {
    try {
      listener.onBlockFetchFailure(blockId, failure);
    } catch (Throwable e) {
      failAgain(listener, blockId, failure);
    }
  }

  private static void failAgain(BlockFetchingListener listener, String blockId, Throwable failure) {
    try {
      listener.onBlockFetchFailure(blockId, failure);
    } catch (Throwable e) {
      log(blockId, e);
    }
  }

  private static void log(String blockId, Throwable e) {
    try {
      LIMIT
          .next(e.getClass())
          .ifPresent(
              omitted ->
                  LOG.error(
                      "Spark's fetcher threw an exception when it received the result of block={}{}",
                      blockId,
                      omitted,
                      e));
    } catch (Throwable noMemory) {
      // The caller has other blocks to answer.
    }
  }
}
