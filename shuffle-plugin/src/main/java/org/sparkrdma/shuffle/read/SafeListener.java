// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls Spark's listener so that nothing it throws is lost: Spark's iterator would wait for a block
 * for ever. Stateless.
 */
final class SafeListener {
  private static final Logger LOG = LoggerFactory.getLogger(SafeListener.class);

  private SafeListener() {}

  /**
   * Hands a block over. When the listener throws, the block is reported as failed: a second success
   * could make Spark read it twice, a failure only makes it compute the block again.
   */
  static void succeed(BlockFetchingListener listener, String blockId, ManagedBuffer buffer) {
    try {
      listener.onBlockFetchSuccess(blockId, buffer);
    } catch (Throwable e) {
      fail(listener, blockId, e);
    }
  }

  /** Reports a failure; what the listener then throws is only logged. */
  static void fail(BlockFetchingListener listener, String blockId, Throwable failure) {
    try {
      listener.onBlockFetchFailure(blockId, failure);
    } catch (Throwable e) {
      LOG.error(
          "Spark's fetcher threw an exception when it received the result of block={}", blockId, e);
    }
  }
}
