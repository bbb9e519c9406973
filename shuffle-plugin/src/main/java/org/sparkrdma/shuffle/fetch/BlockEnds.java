// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import org.sparkrdma.shuffle.metrics.FallbackReason;

/** Ends blocks that are not delivered: releases what they hold, on threads of {@link Delivery}. */
final class BlockEnds {
  private final BlockAnswers answers;
  private final DeliveryLog log;

  BlockEnds(BlockAnswers answers, DeliveryLog log) {
    this.answers = answers;
    this.log = log;
  }

  /** Sends a block to TCP. The answer comes first: the disk of its file may hang. */
  void fail(BlockProgress block, FallbackReason reason, Throwable e) {
    release(block);
    answers.fail(block, reason, FailureText.of(e));
    discard(block);
  }

  /** Releases the memory of a block. Never throws. */
  void release(BlockProgress block) {
    try {
      block.releaseMemory();
    } catch (Throwable e) {
      log.notReleased(block, e);
    }
  }

  /** Deletes the file of a block if it has one. Never throws. */
  void discard(BlockProgress block) {
    discard(block, log);
  }

  /** The same with another log. */
  static void discard(BlockProgress block, DeliveryLog log) {
    try {
      if (block.toDisk()) {
        block.disk().discard();
      }
    } catch (Throwable e) {
      log.notReleased(block, e);
    }
  }
}
