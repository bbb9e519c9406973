// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import org.sparkrdma.shuffle.fetch.BlockRanges;

/**
 * Parses names of shuffle blocks: {@code shuffle_S_M_R} for one, {@code shuffle_S_M_R0_R1} for a
 * batch. Stateless.
 */
final class BlockNames {
  private static final String PREFIX = "shuffle_";
  private static final int MAX_DIGITS = 18;

  private BlockNames() {}

  /** Adds the block of that name; false for every other kind of block, which is not added. */
  static boolean parse(String name, BlockRanges to) {
    if (!name.startsWith(PREFIX)) {
      return false;
    }
    int shuffleEnd = end(name, PREFIX.length());
    int mapEnd = end(name, shuffleEnd + 1);
    int startEnd = end(name, mapEnd + 1);
    long shuffleId = number(name, PREFIX.length(), shuffleEnd);
    long mapId = number(name, shuffleEnd + 1, mapEnd);
    long start = number(name, mapEnd + 1, startEnd);
    long end = startEnd == name.length() ? start + 1 : number(name, startEnd + 1, name.length());
    if (shuffleId < 0 || mapId < 0 || start < 0 || start >= end) {
      return false;
    }
    if (shuffleId > Integer.MAX_VALUE || end > Integer.MAX_VALUE) {
      return false;
    }
    to.add((int) shuffleId, mapId, (int) start, (int) end);
    return true;
  }

  /** Index of the end of the field that begins at {@code from}. */
  private static int end(String name, int from) {
    int end = name.indexOf('_', from);
    return end < 0 ? name.length() : end;
  }

  /** The digits between two indexes as a number; -1 when there is none or another character. */
  private static long number(String name, int from, int to) {
    if (from >= to || to - from > MAX_DIGITS) {
      return -1;
    }
    long number = 0;
    for (int i = from; i < to; i++) {
      int digit = name.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }
}
