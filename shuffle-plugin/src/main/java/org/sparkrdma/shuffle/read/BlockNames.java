// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.Optional;
import org.sparkrdma.shuffle.fetch.BlockRange;

/**
 * Parses names of shuffle blocks: {@code shuffle_S_M_R} for one, {@code shuffle_S_M_R0_R1} for a
 * batch. Stateless.
 */
final class BlockNames {
  private static final String PREFIX = "shuffle_";
  private static final int MAX_DIGITS = 18;

  private BlockNames() {}

  /** The block of that name; empty for every other kind of block. */
  static Optional<BlockRange> parse(String name) {
    if (!name.startsWith(PREFIX)) {
      return Optional.empty();
    }
    long[] fields = new long[4];
    int count = 0;
    int from = PREFIX.length();
    while (from <= name.length()) {
      int to = name.indexOf('_', from);
      if (to < 0) {
        to = name.length();
      }
      long field = number(name, from, to);
      if (field < 0 || count == fields.length) {
        return Optional.empty();
      }
      fields[count++] = field;
      from = to + 1;
    }
    return range(fields, count);
  }

  private static Optional<BlockRange> range(long[] fields, int count) {
    if (count < 3) {
      return Optional.empty();
    }
    long end = count == 4 ? fields[3] : fields[2] + 1;
    if (fields[0] > Integer.MAX_VALUE || end > Integer.MAX_VALUE || fields[2] >= end) {
      return Optional.empty();
    }
    return Optional.of(new BlockRange((int) fields[0], fields[1], (int) fields[2], (int) end));
  }

  /** The digits between two indexes as a number; -1 when there is another character. */
  private static long number(String name, int from, int to) {
    if (from == to || to - from > MAX_DIGITS) {
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
