// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.function.LongConsumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.sparkrdma.shuffle.fetch.BlockVerifier.Verdict;
import org.sparkrdma.shuffle.metrics.Counter;
import org.sparkrdma.shuffle.metrics.FallbackReason;
import org.sparkrdma.shuffle.metrics.ShuffleCounters;

/**
 * Answers each block once, and counts the verdicts about their checksums. Never throws: when a
 * handler throws, the block is reported to it as failed, which it ignores when it has answered the
 * block. Safe for any thread.
 */
final class BlockAnswers {
  private final boolean verify;
  private final ShuffleCounters counters;
  private final LongConsumer corrupted;
  private final DeliveryLog log;
  private final UnusableChecksums unusable = new UnusableChecksums();

  /**
   * @param verify whether blocks are verified with their checksums
   * @param corrupted receives the incarnation of a peer whose READ data differs from TCP
   */
  BlockAnswers(boolean verify, ShuffleCounters counters, LongConsumer corrupted, DeliveryLog log) {
    this.verify = verify;
    this.counters = counters;
    this.corrupted = corrupted;
    this.log = log;
  }

  /** Whether the recorded checksums of a map output are known to be wrong. */
  boolean areSumsUnusable(int shuffleId, long mapId) {
    return unusable.contain(shuffleId, mapId);
  }

  /** Lets TCP decide about a block whose checksum differs from its data. */
  void suspect(BlockProgress block, long crc32c) {
    if (!block.claimAnswer()) {
      return;
    }
    try {
      block
          .fetch()
          .handler()
          .onSuspect(
              block.index(),
              new SuspectBlock(block.bytesRead(), crc32c, same -> judge(block, same)));
    } catch (Throwable e) {
      failAgain(block, FallbackReason.READ_ERROR, e, log);
    }
  }

  private void judge(BlockProgress block, boolean same) {
    if (same) {
      counters.increment(Counter.CHECKSUMS_UNUSABLE);
      unusable.add(block.shuffleId(), block.mapId());
    } else {
      counters.increment(Counter.BLOCKS_CORRUPT);
      corrupted.accept(block.fetch().peer().incarnation());
    }
  }

  void count(Verdict verdict) {
    if (verify) {
      counters.increment(
          verdict == Verdict.MATCH ? Counter.BLOCKS_VERIFIED : Counter.BLOCKS_UNVERIFIED);
    }
  }

  /** Passes a block to its handler; false when it was answered before. */
  boolean handOver(BlockProgress block, ManagedBuffer buffer) {
    if (!block.claimAnswer()) {
      return false;
    }
    try {
      block.fetch().handler().onFetched(block.index(), buffer, block.copiedBytes());
    } catch (Throwable e) {
      failAgain(block, FallbackReason.READ_ERROR, e, log);
    }
    return true;
  }

  /** Reports that a block must use TCP, unless it was answered before. */
  void fail(BlockProgress block, FallbackReason reason, String detail) {
    if (block.claimAnswer()) {
      fail(block, reason, detail, log);
    }
  }

  /** Reports that a block must use TCP whose answer is claimed. */
  static void fail(
      BlockProgress block, FallbackReason reason, String detail, DeliveryLog deliveryLog) {
    try {
      block.fetch().handler().onFailed(block.index(), reason, detail);
    } catch (Throwable e) {
      failAgain(block, reason, e, deliveryLog);
    }
  }

  private static void failAgain(
      BlockProgress block, FallbackReason reason, Throwable thrown, DeliveryLog deliveryLog) {
    try {
      block.fetch().handler().onFailed(block.index(), reason, FailureText.of(thrown));
    } catch (Throwable e) {
      // The exception that is logged came first.
    }
    deliveryLog.handlerFailed(block, thrown);
  }
}
