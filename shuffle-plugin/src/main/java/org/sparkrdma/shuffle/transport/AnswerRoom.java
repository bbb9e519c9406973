// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.transport;

/**
 * The number of blocks that an answer of the peer is expected to locate. A LOCATE asks for no more,
 * because blocks that an answer leaves out are located twice. Owned by the agent.
 */
final class AnswerRoom {
  private static final int GROWTH_PART = 8;

  private int maxBlocks = Integer.MAX_VALUE;

  /** Maximum number of blocks of the next LOCATE. */
  int maxBlocks() {
    return maxBlocks;
  }

  /**
   * Adapts the number to an answer.
   *
   * @param asked number of blocks of the request
   * @param leftOut number of them for which the answer had no room
   */
  void onAnswer(int asked, int leftOut) {
    if (leftOut > 0) {
      maxBlocks = Math.max(1, asked - leftOut);
    } else if (asked >= maxBlocks) {
      maxBlocks += maxBlocks / GROWTH_PART + GROWTH_PART;
    }
  }
}
