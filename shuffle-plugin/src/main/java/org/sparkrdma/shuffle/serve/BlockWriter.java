// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.output.ComputedChecksums;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.PieceChecksums;
import org.sparkrdma.shuffle.output.RecordedChecksums;
import org.sparkrdma.shuffle.wire.Located;

/**
 * Writes the pieces of blocks, with their checksums, into an answer. Made for one answer; used with
 * the server's lock.
 */
final class BlockWriter {
  private static final Logger LOG = LoggerFactory.getLogger(BlockWriter.class);

  /** Result of writing a block. */
  enum Step {
    /** The next block follows. */
    NEXT,
    /** The answer must end; the reader requests the rest again. */
    FULL,
    /** The block goes on, on a thread that may wait for its disk. */
    NEEDS_DISK
  }

  private final StateLock state;
  private final PiecePlacer placer;
  private final Piece piece = new Piece();
  private final RecordedChecksums recorded = new RecordedChecksums();
  private final ComputedChecksums computed;
  private Located.Encoder answer;
  private int sentToTcp;

  /** The block in progress: where its next piece begins in the file. */
  private long at;

  private long blockStart;

  /**
   * @param computed checksums for blocks without usable recorded ones; null for none
   */
  BlockWriter(PiecePlacer placer, ComputedChecksums computed, StateLock state) {
    this.state = state;
    this.placer = placer;
    this.computed = computed;
  }

  /** Begins an answer. */
  void beginAnswer(Located.Encoder newAnswer) {
    answer = newAnswer;
    sentToTcp = 0;
  }

  /** Number of blocks of this answer that use TCP. */
  int sentToTcp() {
    return sentToTcp;
  }

  /** Offset in the block, for which {@link Step#NEEDS_DISK} was returned, of its next piece. */
  long reached() {
    return at - blockStart;
  }

  /** Writes that a block must be fetched by TCP. */
  Step byTcp(int block, Located.Kind why) {
    if (answer.roomForSums() < 0) {
      return Step.FULL;
    }
    answer.byTcp(block, why);
    sentToTcp++;
    return Step.NEXT;
  }

  /**
   * Writes the pieces of a block from {@code from} on, as many as fit. After {@link
   * Step#NEEDS_DISK} a thread of its disk goes on, from {@link #reached}.
   *
   * @param from offset in the block
   * @param freshSums whether the recorded checksums are unusable
   * @param mayBlock whether this thread may wait for the disk
   */
  Step block(
      int block,
      ServedOutput output,
      int startReduceId,
      int endReduceId,
      long from,
      boolean freshSums,
      boolean mayBlock) {
    MapOutput map = output.mapOutput();
    long start = map.offset(startReduceId);
    long end = map.offset(endReduceId);
    if (start == end && from == 0) {
      return writeEmpty(block);
    }
    if (from >= end - start) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    blockStart = start;
    at = start + from;
    PieceChecksums sums = sumsOf(map, startReduceId, endReduceId, at, freshSums);
    if (sums == computed && !mayBlock) {
      return Step.NEEDS_DISK;
    }
    try {
      while (at < end) {
        int room = answer.roomForSums();
        long longest = sums.endOfFittingSums(at, end, room);
        if (room < 0 || longest == at || placer.answerLimitReached() || placer.isCancelled()) {
          return Step.FULL;
        }
        switch (placer.place(output, at, longest - at, piece, mayBlock)) {
          case PLACED -> writePiece(block, start, end, sums);
          case NEEDS_DISK -> {
            return Step.NEEDS_DISK;
          }
          case NO_ROOM -> {
            // Leases of this answer may use up the budget: the reader releases them and asks again.
            return placer.hasPlaced() ? Step.FULL : byTcp(block, Located.Kind.BUSY);
          }
        }
      }
    } catch (IOException e) {
      LOG.trace("Block cannot be read; the reader uses TCP", e);
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    return Step.NEXT;
  }

  private void writePiece(int block, long start, long end, PieceChecksums sums) throws IOException {
    int count = sums.countUntil(at + piece.lengthBytes());
    answer.located(
        block,
        piece.address(),
        piece.remoteKey(),
        piece.lengthBytes(),
        at - start,
        end - start,
        count);
    if (piece.isCopied()) {
      answer.markCopied();
    }
    if (sums == computed) {
      state.unlocked(
          () -> {
            sums.write(answer, start, count);
            return null;
          });
    } else {
      sums.write(answer, start, count);
    }
    at += piece.lengthBytes();
  }

  private PieceChecksums sumsOf(
      MapOutput map, int startReduceId, int endReduceId, long fileOffset, boolean fresh) {
    if (computed != null && (fresh || !map.hasSums())) {
      computed.begin(map, startReduceId, endReduceId, fileOffset);
      return computed;
    }
    recorded.begin(map, startReduceId, endReduceId, fileOffset);
    return recorded;
  }

  /** Ends the answer. */
  void endAnswer() {
    if (computed != null) {
      computed.endAnswer();
    }
  }

  private Step writeEmpty(int block) {
    if (answer.roomForSums() < 0) {
      return Step.FULL;
    }
    answer.located(block, 0, 0, 0, 0, 0, 0);
    return Step.NEXT;
  }
}
