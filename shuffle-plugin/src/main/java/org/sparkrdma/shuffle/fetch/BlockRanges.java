// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.fetch;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Objects;
import java.util.RandomAccess;

/**
 * The blocks of one request, in arrays instead of an object for each. The object is made when it is
 * asked for. Filled by one thread, then not changed any more.
 */
public final class BlockRanges extends AbstractList<BlockRange> implements RandomAccess {
  private static final String PREFIX = "shuffle_";
  private static final int MAX_DIGITS = 18;

  private long[] mapIds;

  /** Shuffle, first partition and end of the partitions of each block. */
  private int[] others;

  private int size;

  /**
   * @param capacity number of blocks for which there is room at first
   */
  public BlockRanges(int capacity) {
    mapIds = new long[capacity];
    others = new int[3 * capacity];
  }

  /**
   * Adds the block of a name of Spark: {@code shuffle_S_M_R} for one, {@code shuffle_S_M_R0_R1} for
   * a batch.
   *
   * @return false for every other kind of block, which is not added
   */
  public boolean tryAdd(String name) {
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
    add((int) shuffleId, mapId, (int) start, (int) end);
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

  /** Adds a block; see {@link BlockRange}. */
  public void add(int shuffleId, long mapId, int startReduceId, int endReduceId) {
    if (size == mapIds.length) {
      int capacity = Math.max(16, 2 * size);
      mapIds = Arrays.copyOf(mapIds, capacity);
      others = Arrays.copyOf(others, 3 * capacity);
    }
    mapIds[size] = mapId;
    others[3 * size] = shuffleId;
    others[3 * size + 1] = startReduceId;
    others[3 * size + 2] = endReduceId;
    size++;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public BlockRange get(int i) {
    return new BlockRange(shuffleId(i), mapId(i), startReduceId(i), endReduceId(i));
  }

  /** Shuffle of block {@code i}. */
  public int shuffleId(int i) {
    return others[3 * check(i)];
  }

  /** Map id of block {@code i}. */
  public long mapId(int i) {
    return mapIds[check(i)];
  }

  /** First reduce partition of block {@code i}. */
  public int startReduceId(int i) {
    return others[3 * check(i) + 1];
  }

  /** One past the last reduce partition of block {@code i}. */
  public int endReduceId(int i) {
    return others[3 * check(i) + 2];
  }

  private int check(int i) {
    return Objects.checkIndex(i, size);
  }
}
