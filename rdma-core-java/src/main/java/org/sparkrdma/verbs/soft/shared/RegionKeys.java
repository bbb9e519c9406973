// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.util.SplittableRandom;

/**
 * Gives regions their remote keys.
 *
 * <p>A key is an index in the shared table and a generation that grows each time the index is used
 * again. Indexes are used in turn, so that a stale key stays invalid for a very long time. Safe for
 * any thread.
 */
public final class RegionKeys {
  private static final int INDEX_MASK = SharedTable.REGIONS - 1;
  private static final int GENERATION_STEP = SharedTable.REGIONS;

  private final int[] nextKey = new int[SharedTable.REGIONS];
  private final FreeIndexes free = new FreeIndexes(SharedTable.REGIONS);

  RegionKeys(long seed) {
    var random = new SplittableRandom(seed);
    for (int i = 0; i < nextKey.length; i++) {
      nextKey[i] = (random.nextInt() & ~INDEX_MASK) | i;
    }
  }

  /** The index in the table of the region with that key. */
  public static int indexOf(int key) {
    return key & INDEX_MASK;
  }

  /**
   * Takes a key that is not in use.
   *
   * @throws IllegalStateException when there is none
   */
  public int take() {
    int index = free.take();
    if (index < 0) {
      throw new IllegalStateException("too many regions: limit=" + SharedTable.REGIONS);
    }
    int key = nextKey[index];
    nextKey[index] = key + GENERATION_STEP;
    return key;
  }

  /** The region with that key was retired. */
  public void release(int key) {
    free.release(indexOf(key));
  }
}
