// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.util.SplittableRandom;
import org.sparkrdma.verbs.VerbsException;

/**
 * Gives regions their remote keys of 32 bits, or queue pairs their numbers of 24 bits: an index in
 * the shared table, and above it a generation that grows each time the index is used again. Indexes
 * are used in turn, so that a stale key stays invalid for a very long time. Safe for any thread.
 */
public final class KeyAllocator {
  private static final int QUEUE_PAIR_MASK = 0xff_ffff;

  private final int[] next;
  private final int mask;

  /** The unused indexes, least recently used first. */
  private final int[] free;

  private int head;
  private int count;

  private KeyAllocator(int size, int mask) {
    this.mask = mask;
    next = new int[size];
    free = new int[size];
    count = size;
    for (int i = 0; i < size; i++) {
      next[i] = i;
      free[i] = i;
    }
  }

  public static KeyAllocator ofQueuePairs() {
    return new KeyAllocator(SharedTable.QUEUE_PAIRS, QUEUE_PAIR_MASK);
  }

  /** Keys whose first generations are random. */
  public static KeyAllocator ofRegions(long seed) {
    var keys = new KeyAllocator(SharedTable.REGIONS, -1);
    var random = new SplittableRandom(seed);
    for (int i = 0; i < keys.next.length; i++) {
      keys.next[i] |= random.nextInt() & -SharedTable.REGIONS;
    }
    return keys;
  }

  /**
   * Takes a key that is not in use.
   *
   * @param call that needs it, for the message of the failure
   * @throws VerbsException when there is none
   */
  public synchronized int take(String call) throws VerbsException {
    if (count == 0) {
      throw new VerbsException(
          call,
          VerbsException.ENOMEM,
          call + " failed: too many objects: limit=" + free.length,
          null);
    }
    int index = free[head];
    head = (head + 1) % free.length;
    count--;
    int key = next[index];
    next[index] = (key + free.length) & mask;
    return key;
  }

  /** The object with that key was retired. */
  public synchronized void release(int key) {
    free[(head + count) % free.length] = key & (free.length - 1);
    count++;
  }
}
