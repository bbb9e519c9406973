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
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.shuffle.output.ComputedSums;
import org.sparkrdma.shuffle.output.MapOutput;
import org.sparkrdma.shuffle.output.PieceSums;
import org.sparkrdma.shuffle.output.RecordedSums;
import org.sparkrdma.shuffle.wire.Located;

/** Writes the pieces of blocks, with their checksums, into an answer. On the server's thread. */
final class BlockWriter {
  private static final Logger LOGGER = LoggerFactory.getLogger(BlockWriter.class);

  private final Placement placement;
  private final Piece piece = new Piece();
  private final RecordedSums recorded = new RecordedSums();
  private final ComputedSums computed;
  private Located.Encoder answer;
  private int sentToTcp;

  /**
   * @param computed checksums for blocks without usable recorded ones; null for none
   */
  BlockWriter(Placement placement, ComputedSums computed) {
    this.placement = placement;
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

  /**
   * Writes that a block must be fetched by TCP.
   *
   * @return false when the answer is full
   */
  boolean byTcp(int block, Located.Kind why) {
    if (answer.roomForSums() < 0) {
      return false;
    }
    answer.byTcp(block, why);
    sentToTcp++;
    return true;
  }

  /**
   * Writes the pieces of a block from {@code from} on, as many as fit.
   *
   * @param from offset in the block
   * @param freshSums whether the recorded checksums are unusable
   * @return false when the answer must end here; the reader requests the rest again
   */
  boolean block(
      int block,
      ServedOutput output,
      int startReduceId,
      int endReduceId,
      long from,
      boolean freshSums) {
    MapOutput map = output.mapOutput();
    if (endReduceId > map.partitions()) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    long start = map.offset(startReduceId);
    long end = map.offset(endReduceId);
    if (start == end && from == 0) {
      return writeEmpty(block);
    }
    if (from >= end - start) {
      return byTcp(block, Located.Kind.UNKNOWN);
    }
    PieceSums sums = sumsOf(map, startReduceId, endReduceId, start + from, freshSums);
    long at = start + from;
    while (at < end) {
      int room = answer.roomForSums();
      long longest = sums.endOfFittingSums(at, end, room);
      if (room < 0 || longest == at || placement.answerLimitReached()) {
        return false;
      }
      try {
        if (!placement.place(output, at, longest - at, piece)) {
          // Leases of this answer may use up the budget: the reader releases them and asks again.
          return !placement.hasPlaced() && byTcp(block, Located.Kind.BUSY);
        }
      } catch (IOException e) {
        LOGGER.debug("block cannot be read; the reader uses TCP", e);
        return byTcp(block, Located.Kind.UNKNOWN);
      }
      int count = sums.countUntil(at + piece.lengthBytes());
      answer.located(
          block,
          piece.address(),
          piece.remoteKey(),
          piece.lengthBytes(),
          at - start,
          end - start,
          count);
      sums.write(answer, start, count);
      at += piece.lengthBytes();
    }
    return true;
  }

  private PieceSums sumsOf(
      MapOutput map, int startReduceId, int endReduceId, long at, boolean fresh) {
    if (computed != null && (fresh || !map.hasSums())) {
      computed.begin(map, startReduceId, endReduceId, at);
      return computed;
    }
    recorded.begin(map, startReduceId, at);
    return recorded;
  }

  /** Ends the answer. */
  void endAnswer() {
    answer = null;
    if (computed != null) {
      computed.endAnswer();
    }
  }

  private boolean writeEmpty(int block) {
    if (answer.roomForSums() < 0) {
      return false;
    }
    answer.located(block, 0, 0, 0, 0, 0, 0);
    return true;
  }
}
