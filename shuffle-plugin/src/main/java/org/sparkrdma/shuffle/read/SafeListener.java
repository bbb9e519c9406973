/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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
