// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import org.sparkrdma.shuffle.directory.Endpoint;
import org.sparkrdma.shuffle.fetch.BlockRanges;
import org.sparkrdma.shuffle.metrics.FallbackReason;

/**
 * Blocks that one call of Spark wants from one peer. Each block is settled once: a later result of
 * a block is ignored. Called by the agent without a lock, except {@link #failRest}, which any
 * thread calls. No method may block.
 */
public interface BlockRequest {
  /** The peer. */
  Endpoint endpoint();

  /** The blocks; not changed any more. */
  BlockRanges ranges();

  /** Whether the server must compute the checksums of a block: the recorded ones are wrong. */
  boolean needsFreshSums(int index);

  /**
   * A whole block was read.
   *
   * @param block its bytes; belongs to the request, which releases it
   */
  void onRead(int index, ReceivedBlock block);

  /**
   * A block must be fetched by TCP.
   *
   * @param detail a few words for a log, without secrets
   */
  void onFailed(int index, FallbackReason reason, String detail);

  /** All blocks that are not settled must be fetched by TCP. */
  void failRest(FallbackReason reason, String detail);
}
