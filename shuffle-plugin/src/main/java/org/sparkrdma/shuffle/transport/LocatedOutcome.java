// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkrdma.shuffle.wire.Located;

/**
 * The result of a LOCATED: READs to post, and blocks that are not read now. {@link LocatedReader}
 * has one instance, so that a message allocates none; it is valid until the next message. Owned by
 * the agent.
 */
final class LocatedOutcome {
  private final List<ReadOperation> reads = new ArrayList<>();
  private final Map<BlockProgress, Located.Kind> refused = new LinkedHashMap<>();
  private final List<BlockProgress> askAgain = new ArrayList<>();
  private final Set<BlockProgress> tooLong = new LinkedHashSet<>();
  private boolean peerBusy;

  /** READs to post, in this order. The reader adds to the last one, and divides short ones. */
  List<ReadOperation> reads() {
    return reads;
  }

  /** The READ that was added last, or null. */
  ReadOperation lastRead() {
    return reads.isEmpty() ? null : reads.get(reads.size() - 1);
  }

  /** Blocks that use TCP, with the answer of the server. */
  Map<BlockProgress, Located.Kind> refused() {
    return refused;
  }

  void refuse(BlockProgress block, Located.Kind kind) {
    refused.put(block, kind);
  }

  /** Blocks to locate again, in their order. */
  List<BlockProgress> askAgain() {
    return askAgain;
  }

  void askAgain(BlockProgress block) {
    askAgain.add(block);
  }

  /** Blocks that never fit into receive memory; they use TCP. */
  Set<BlockProgress> tooLong() {
    return tooLong;
  }

  boolean isTooLong(BlockProgress block) {
    return !tooLong.isEmpty() && tooLong.contains(block);
  }

  void addTooLong(BlockProgress block) {
    tooLong.add(block);
  }

  /** Whether a block waits for room at the server. */
  boolean isPeerBusy() {
    return peerBusy;
  }

  void markPeerBusy() {
    peerBusy = true;
  }

  /** Makes it empty, so that it keeps no block. */
  void clear() {
    reads.clear();
    refused.clear();
    askAgain.clear();
    tooLong.clear();
    peerBusy = false;
  }
}
