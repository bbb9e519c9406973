// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

/**
 * Gives queue pairs their numbers of 24 bits: an index in the shared table and a generation. Safe
 * for any thread.
 */
public final class QueuePairNumbers {
  private static final int INDEX_MASK = SharedTable.QUEUE_PAIRS - 1;
  private static final int NUMBER_MASK = 0xff_ffff;

  private final int[] next = new int[SharedTable.QUEUE_PAIRS];
  private final FreeIndexes free = new FreeIndexes(SharedTable.QUEUE_PAIRS);

  QueuePairNumbers() {
    for (int i = 0; i < next.length; i++) {
      next[i] = i;
    }
  }

  /** The index in the table of the queue pair with that number. */
  public static int indexOf(int number) {
    return number & INDEX_MASK;
  }

  /** A number that is not in use, or -1. */
  public int take() {
    int index = free.take();
    if (index < 0) {
      return -1;
    }
    int number = next[index];
    next[index] = (number + SharedTable.QUEUE_PAIRS) & NUMBER_MASK;
    return number;
  }

  /** The queue pair with that number was retired. */
  public void release(int number) {
    free.release(indexOf(number));
  }
}
